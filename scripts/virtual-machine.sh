#!/bin/sh
# A virtual machine of QEMU with a release of Debian, the kernel of that release, Erlang and RabbitMQ. It sees this
# source tree, read-only, under the same path, runs one command as root, and ends.
#
#   scripts/virtual-machine.sh aarch64 uname -a          # ARCH: aarch64 or x86_64
#
#   SUITE=bookworm MACHINES=target/machines CPUS=2 MEMORY=3G scripts/virtual-machine.sh …
#
# An emulated x86-64 machine has one CPU unless CPUS is set: with a clock that counts instructions, the start of a second
# one hangs (QEMU 7.2, Linux 6.1).
# The machine's directory /exchange has the files that FILES names, and takes files from the machine.
# The first call makes the machine's disk, as root: some 2 GB. It runs nothing of the other architecture: packages are
# unpacked, which is enough for the tests, and not configured. Later calls keep the disk. The machine has no network but
# its own, and leaves nothing behind. The exit code 125 is not from the command.
set -eu
cd "$(dirname "$0")/.."
die() {
    echo "$*" >&2
    exit 125
}
[ $# -ge 2 ] || die "usage: scripts/virtual-machine.sh aarch64|x86_64 COMMAND…"
architecture=$1
shift
case $architecture in
aarch64) debian=arm64 console=ttyAMA0 ;;
x86_64) debian=amd64 console=ttyS0 ;;
*) die "$architecture: aarch64 and x86_64 are known" ;;
esac
suite=${SUITE:-bookworm}
machines=${MACHINES:-target/machines}
mkdir -p "$machines"
machine=$(realpath "$machines")/$suite-$architecture
PATH=$PATH:/usr/sbin:/sbin

# Packages for the tests and throwaway brokers. None of them starts by itself.
packages="rabbitmq-server erlang-base gcc libc6-dev libc6-dbg iproute2 procps util-linux binutils kmod mount"
# Drivers for the disk and the source tree. The system finds others that the kernel requests.
modules="virtio_pci virtio_blk ext4 9p 9pnet_virtio"

need() {
    missing=
    for program in "qemu-system-$architecture" mke2fs cpio modprobe depmod; do
        command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
    done
    [ -z "$missing" ] ||
        die "missing here:$missing (apt-get install qemu-system-arm qemu-system-x86 e2fsprogs cpio kmod)"
}

# The mirror of this machine's own packages, if it is one of Debian.
mirror() {
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' "Identifier: Packages" 2>/dev/null |
        sed -n "s/ $suite main\$//p" | head -n 1
}

# Fetches packages of the machine's architecture, with the settings and keys of this machine, into the directory $1.
download() {
    directory=$1
    mkdir -p "$directory/lists/partial" "$directory/archives/partial" "$directory/sources"
    : >"$directory/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" >"$directory/sources/debian.list"
    set -- -qq -o "APT::Architecture=$debian" -o "APT::Architectures=$debian" -o Dir::Etc::SourceList=/dev/null \
        -o "Dir::Etc::SourceParts=$directory/sources" -o "Dir::State::Lists=$directory/lists" \
        -o "Dir::State::Status=$directory/status" -o "Dir::Cache=$directory" -o APT::Sandbox::User=root
    apt-get "$@" update
    # Also packages without dependants, because every system has them.
    # shellcheck disable=SC2086 # a list of words
    apt-get "$@" --yes --download-only --no-install-recommends install '?essential' $packages
    # A package without files depends on the newest kernel.
    newest=$(apt-cache "$@" depends "linux-image-$debian" | sed -n 's/^ *Depends: //p' | head -n 1)
    (cd "$directory" && apt-get "$@" download "$newest" busybox-static)
}

# The kernel, its drivers, and a shell for the machine's first file system.
make_kernel() {
    parts=$1/parts
    mkdir -p "$parts/modules"
    dpkg-deb -x "$1"/packages/linux-image-*.deb "$1/kernel"
    dpkg-deb -x "$1"/packages/busybox-static_*.deb "$1/busybox"
    cp "$1/busybox/bin/busybox" "$parts/"
    cp "$1"/kernel/boot/vmlinuz-* "$parts/vmlinuz"
    version=$(ls "$1/kernel/lib/modules")
    depmod --basedir "$1/kernel" "$version"
    # In the order of their dependencies.
    for module in $modules; do
        modprobe --dirname "$1/kernel" --set-version "$version" --show-depends "$module" | sed -n 's/^insmod //p'
    done | awk '!seen[$1]++' | while read -r module; do
        cp "$module" "$parts/modules/"
        echo "${module##*/}" >>"$parts/modules/order"
    done
}

# The machine's system, and the effects of configuring its packages.
make_root() {
    root=$1/root
    for directory in bin sbin lib; do
        mkdir -p "$root/usr/$directory"
        ln -s "usr/$directory" "$root/$directory"
    done
    [ "$debian" != amd64 ] || { mkdir -p "$root/usr/lib64" && ln -s usr/lib64 "$root/lib64"; }
    for package in "$1"/packages/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -p -f - -C "$root" --keep-directory-symlink
    done
    cp -r "$1"/kernel/lib/modules "$root/usr/lib/"
    cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
    cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
    cp "$root/usr/share/libc-bin/nsswitch.conf" "$root/etc/nsswitch.conf"
    printf '127.0.0.1 localhost machine\n' >"$root/etc/hosts"
    ln -sf mawk "$root/usr/bin/awk"
    ln -sf gcc "$root/usr/bin/cc"
}

make_machine() {
    [ "$(id -u)" = 0 ] || die "the disk of a machine holds files of other users: run this as root"
    work=$machine.new
    rm -rf "$work"
    mkdir -p "$work"
    download "$work/packages"
    make_kernel "$work"
    make_root "$work"
    truncate -s 6G "$work/disk"
    mke2fs -q -t ext4 -d "$work/root" "$work/disk"
    rm -rf "$work/root" "$work/kernel" "$work/packages" "$work/busybox"
    mv "$work" "$machine"
}

# The machine's first file system, in memory: drivers, and the script that mounts the rest.
make_initramfs() {
    first=$1/first
    rm -rf "$first"
    mkdir -p "$first/bin" "$first/root" "$first/dev" "$first/proc" "$first/sys"
    cp "$1/parts/busybox" "$first/bin/"
    cp -r "$1/parts/modules" "$first/"
    cp scripts/virtual-machine-init.sh "$first/init"
    (cd "$first" && find . | cpio --quiet --owner 0:0 -o -H newc | gzip -1) >"$1/initrd.gz"
    rm -rf "$first"
}

# Starts the machine in the directory $1 for the command $2. Changes of its disk are discarded.
boot() {
    own=$1
    make_initramfs "$own"
    rm -rf "$own/exchange"
    mkdir -p "$own/exchange"
    for file in ${FILES:-}; do
        cp "$file" "$own/exchange/"
    done
    printf '%s\n' "$2" >"$own/exchange/command"
    printf '%s\n' "$PWD" >"$own/exchange/tree"
    # shellcheck disable=SC2086 # a list of words
    "qemu-system-$architecture" $(hardware) -m "${MEMORY:-3G}" -nographic -no-reboot -nic none \
        -kernel "$own/parts/vmlinuz" -initrd "$own/initrd.gz" \
        -append "console=$console quiet loglevel=3 panic=-1 ${KERNEL_ARGUMENTS:-}" \
        -drive "file=$own/disk,format=raw,if=virtio,snapshot=on" \
        -virtfs "local,path=$PWD,mount_tag=tree,security_model=none,readonly=on" \
        -virtfs "local,path=$own/exchange,mount_tag=exchange,security_model=none" </dev/null |
        sed -u 's|\r||g' | tee "$own/console"
    return "$(cat "$own/exchange/status" 2>/dev/null || echo 125)"
}

# This machine's own CPU if permitted (ACCELERATION=tcg: no), else an emulated one. Its clock counts instructions as a
# nanosecond each, so delays and stops of the emulation are invisible to the machine.
hardware() {
    speed="-accel tcg,thread=single -icount shift=0,sleep=off"
    # Without pointer authentication: the kernel would use it, and emulating it is slow.
    cpu=neoverse-n1 cpus=2
    [ "$architecture" = aarch64 ] || cpu=max cpus=1
    if [ "$(uname -m)" = "$architecture" ] && [ -w /dev/kvm ] && [ "${ACCELERATION:-kvm}" = kvm ]; then
        speed="-accel kvm" cpu=host cpus=2
    fi
    board=virt
    [ "$architecture" = aarch64 ] || board=q35
    echo "-machine $board -cpu $cpu -smp ${CPUS:-$cpus} $speed"
}

need
[ -e "$machine/disk" ] || make_machine
boot "$machine" "$*"
