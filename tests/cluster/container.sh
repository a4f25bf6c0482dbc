#!/usr/bin/env bash
# Runs one container of a pod as a process of this machine, as the container's user, in a file system of its own: that of
# the machine, with the pod's volumes where the container expects them. What it writes elsewhere goes with it.
#
# usage: container.sh DIR
#
# DIR has, with NUL behind each entry:
#   mounts   SOURCE TARGET ro|rw ...
#   env      NAME=VALUE ...
#   command  PROGRAM ARGUMENT ...
#   user     the user's and the group's number
#   visible  folders that the image would have and that the user may not reach on this machine
#   image    a folder with the files of the image, which lie over those of the machine; empty if there is none
#
# Needs root (mount namespaces, overlayfs).
set -euo pipefail

dir=${1:?usage: container.sh DIR}
if [ "${2:-}" != inside ]; then
  exec unshare --mount --propagation private "$0" "$dir" inside
fi
mkdir -p "$dir/layers" "$dir/root"
mount -t tmpfs tmpfs "$dir/layers"
mkdir "$dir/layers/upper" "$dir/layers/work"
image=$(tr -d '\0' <"$dir/image")
# A layer of its own cannot lie in a folder of another layer, the machine's.
[ -z "$image" ] || cp -a "$image/." "$dir/layers/upper/"
root=$dir/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/layers/upper,workdir=$dir/layers/work" "$root"
for place in proc dev sys; do mount --rbind "/$place" "$root/$place"; done

mapfile -t -d '' visible <"$dir/visible"
for folder in "${visible[@]}"; do
  while [ "$folder" != / ]; do
    chmod o+x "$root$folder"
    folder=$(dirname "$folder")
  done
done
mapfile -t -d '' mounts <"$dir/mounts"
for ((i = 0; i < ${#mounts[@]}; i += 3)); do
  target=$root${mounts[i + 1]}
  mkdir -p "$target"
  mount --bind "${mounts[i]}" "$target"
  [ "${mounts[i + 2]}" = rw ] || mount -o remount,bind,ro "$target"
done
mapfile -t -d '' env <"$dir/env"
mapfile -t -d '' command <"$dir/command"
user=$(tr -d '\0' <"$dir/user")
exec chroot --userspec="$user:$user" --groups="$user" "$root" setpriv --no-new-privs env -i "${env[@]}" "${command[@]}"
