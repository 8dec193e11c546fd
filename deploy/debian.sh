# shellcheck shell=bash
# What the scripts for the lab and for other Debian releases share: where things are cached, which mirror the machine
# uses, one sentence on failure.

PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/fieldcam
export KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
export PROJECT CACHE

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

say() { printf '%s\n' "$*" >&2; }

# A short hash of what stands on standard input: the key of a cached thing.
key() { sha256sum | cut -c1-12; }

# The Debian mirror of the machine's own apt sources: the first address that serves the suite named.
mirror() {
  local suite=$1 uri probe
  probe=$(mktemp)
  # Both forms of apt's sources: "URIs: …" and "deb [options] …".
  while read -r uri; do
    if timeout 60 /usr/lib/apt/apt-helper -qq download-file "$uri/dists/$suite/Release" "$probe" >/dev/null 2>&1 &&
      grep -q '^Origin: Debian$' "$probe"; then
      rm -f "$probe"
      printf '%s\n' "$uri"
      return 0
    fi
  done < <(
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
      sed -nE 's/^URIs: *//p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' | tr ' ' '\n' | sed 's,/*$,,' | awk 'NF && !seen[$0]++'
  )
  rm -f "$probe"
  return 1
}

# apt-get with a state of its own, so that nothing of the machine changes: apt_own STATE ARCHITECTURE ARGUMENTS…
# STATE/sources.list and STATE/status are the caller's.
apt_own() {
  local state=$1 architecture=$2
  shift 2
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  touch "$state/status"
  apt-get -qq -y -oAPT::Architecture="$architecture" -oAPT::Architectures="$architecture" \
    -oAPT::Install-Recommends=false -oAPT::Sandbox::User=root \
    -oAcquire::http::Timeout=60 -oAcquire::Retries=3 \
    -oDir::State::Lists="$state/lists" -oDir::State::status="$state/status" -oDir::Cache="$state/cache" \
    -oDir::Etc::SourceList="$state/sources.list" -oDir::Etc::SourceParts=/nonexistent \
    -oDir::Etc::Preferences=/nonexistent -oDir::Etc::PreferencesParts=/nonexistent "$@"
}

# Runs a command inside a root, in a folder of this machine that is bound to its own path there: in_root ROOT FOLDER COMMAND…
# The mounts live in a namespace of their own and go with the command.
in_root() {
  local root=$1 folder=$2
  shift 2
  mkdir -p "$root$folder"
  # shellcheck disable=SC2016
  unshare -m bash -c 'root=$1 folder=$2; shift 2
    mount --make-rprivate /
    mount --rbind /proc "$root/proc"; mount --rbind /dev "$root/dev"; mount -t sysfs sys "$root/sys"
    mount -t tmpfs tmp "$root/tmp"; mount -t tmpfs run "$root/run"
    mount --bind "$folder" "$root$folder"
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      DEBIAN_FRONTEND=noninteractive bash -c "cd \"\$0\" && exec \"\$@\"" "$folder" "$@"' -- "$root" "$folder" "$@"
}
