#!/bin/busybox sh
# First program of the machines of virtual-machine.sh: loads drivers, mounts the disk, runs the command from the
# exchange, and switches the machine off.
PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do
    insmod "/modules/$module" || echo "cannot load $module"
done </modules/order
mount -t ext4 /dev/vda /root || poweroff -f
mkdir -p /root/exchange
options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "$options" exchange /root/exchange || poweroff -f
read -r tree </root/exchange/tree
mkdir -p "/root$tree"
mount -t 9p -o "$options,ro,cache=loose" tree "/root$tree" || poweroff -f
ip link set lo up
hostname machine
for directory in proc sys dev; do
    mount --move "/$directory" "/root/$directory"
done
cat >/root/start <<'END'
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tracefs tracefs /sys/kernel/tracing
read -r tree </exchange/tree
# The kernel would lower the rate of samples, because on an emulated CPU each takes long.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
# In a separate session: a first program must not end, and adopts the orphans.
setsid sh -c "cd '$tree' && . /exchange/command" &
wait $!
echo $? >/exchange/status
sync
echo o >/proc/sysrq-trigger
sleep 60
END
exec switch_root /root /bin/sh /start
