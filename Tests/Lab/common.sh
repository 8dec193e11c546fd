# shellcheck shell=bash
# What the lab's scripts share.

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LAB
. "$LAB/../../deploy/debian.sh"
