# shellcheck shell=bash
# The Debian packages that the project needs, by purpose, and how a script gets what is missing.

# To build and to run the program.
PACKAGES_BUILD=(g++ pkg-config libcamera-dev libcamera-ipa libgpiod-dev libasound2-dev libjpeg-dev libexif-dev
  libavcodec-dev libavformat-dev libavutil-dev libswresample-dev libswscale-dev libmicrohttpd-dev libtomlplusplus-dev)
# To test it; ffmpeg, exiftool and tjbench are the other tools that must agree with what the program writes.
PACKAGES_TEST=(shellcheck ffmpeg libimage-exiftool-perl libjpeg-turbo-progs python3 binutils strace)
# To run it in the lab's virtual machine.
PACKAGES_LAB=(qemu-system-x86 libcamera-tools alsa-utils udev iproute2 gpiod)
PACKAGES_KERNEL=(make gcc flex bison bc libelf-dev libssl-dev xz-utils)
# To make Debian roots and cross-build.
PACKAGES_ROOTS=(debootstrap debian-archive-keyring e2fsprogs)
export PACKAGES_BUILD PACKAGES_TEST PACKAGES_LAB PACKAGES_KERNEL PACKAGES_ROOTS

# Installs those of the packages named that are missing, as root or through sudo; else says the one line that does, and fails.
install_missing() {
  local package missing=() as=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if ! command -v swift >/dev/null 2>&1 && [ ! -x /usr/libexec/swift/bin/swift ]; then
    if apt-cache show swiftlang >/dev/null 2>&1; then
      missing+=(swiftlang libc6-dev)
    else
      echo "Swift 6.0 or later is missing and this system packages none: install it from swift.org, then run this again" >&2
      return 1
    fi
  fi
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
      as=(sudo)
    else
      printf 'these packages are missing; install them with: sudo apt-get install %s\n' "${missing[*]}" >&2
      return 1
    fi
  fi
  printf 'installing %s\n' "${missing[*]}" >&2
  if ! "${as[@]}" env DEBIAN_FRONTEND=noninteractive bash -c \
    'apt-get -qq update && apt-get -qq -y --no-install-recommends install "$@"' -- "${missing[@]}" >/dev/null 2>&1; then
    printf 'apt-get could not install them; see why with: apt-get install %s\n' "${missing[*]}" >&2
    return 1
  fi
}
