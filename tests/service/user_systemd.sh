#!/bin/sh
# The unit under a real `systemd --user`, as root, in a mount namespace of its own. Prints `name value` lines.
#   unshare --mount --fork --pid --kill-child --mount-proc sh user_systemd.sh UNIT PROGRAM PYTHON_PREFIX SITE_PACKAGES SOURCE
set -eu
uid=4321 rt=/run/user/4321 h=/run/home
u=$h/.config/systemd/user
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system $rt "$u/memoryd.service.d" $h/.local/bin $h/w/memory /run/base /run/site /run/src/memoryd
# Interpreter and packages may lie where another user cannot reach them.
mount --bind "$3" /run/base && mount --bind "$4" /run/site && mount --bind "$5" /run/src/memoryd
cp "$1" $u/memoryd.service
install -m 755 "$2" $h/.local/bin/memoryd
echo "- The marmot sleeps" > $h/w/memory/2026-02-13.md
# No journal here; shorter waits than those of the unit.
printf '[Service]\nStandardOutput=append:%s/out\nStandardError=append:%s/out\nRestartSec=1s\nWatchdogSec=6s\n' $h $h \
    > $u/memoryd.service.d/ci.conf
chown -R $uid:$uid $rt $h && chmod 700 $rt
umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
cg=/sys/fs/cgroup/u$uid.slice
mkdir -p $cg/m.scope && chown -R $uid:$uid $cg && echo $$ > $cg/m.scope/cgroup.procs

as="setpriv --reuid $uid --regid $uid --clear-groups env -i PATH=/usr/bin:/bin HOME=$h XDG_RUNTIME_DIR=$rt \
DBUS_SESSION_BUS_ADDRESS=unix:path=$rt/bus"
ctl() { $as systemctl --user "$@"; }
show() { ctl show memoryd -p "$1" --value; }
wait_for() { # SECONDS PROPERTY VALUE
    n=0
    while [ "$(show "$2")" != "$3" ] && [ $n -lt $(($1 * 5)) ]; do sleep 0.2 && n=$((n + 1)); done
}
now() { date +%s%3N; }

$as timeout 90 /lib/systemd/systemd --user > $h/manager 2>&1 & mgr=$!
n=0
while ! ctl is-system-running > /dev/null 2>&1 && [ ! -S $rt/systemd/private ] && [ $n -lt 50 ]; do sleep 0.1 && n=$((n + 1)); done

ctl start memoryd || { cat $h/out $h/manager >&2; exit 1; }
echo "ready $(show ActiveState)"
echo "told $(show StatusText)"
echo "mode $(stat -c %a $rt/memoryd) $(stat -c %a $rt/memoryd/default.sock)"
$as curl -sf --unix-socket $rt/memoryd/default.sock http://memoryd/v1/health > $h/health && echo "answers yes"

ctl kill -s KILL memoryd
wait_for 15 NRestarts 1; wait_for 15 ActiveState active
echo "after_kill $(show ActiveState) $(show NRestarts)"

ctl kill -s STOP --kill-whom=main memoryd 2> /dev/null || ctl kill -s STOP --kill-who=main memoryd
wait_for 20 NRestarts 2; wait_for 15 ActiveState active
echo "after_hang $(show ActiveState) $(show NRestarts)"
echo "stacks $(grep -c 'most recent call first' $h/out || true)"

began=$(now)
ctl stop memoryd
echo "stop_ms $(($(now) - began))"
echo "stopped $(show ActiveState) $(show Result)"
[ ! -e $rt/memoryd ] && echo "runtime_folder gone"

echo "[notes]
nonsense = 1" > $h/config.toml
ctl reset-failed memoryd 2> /dev/null || true
ctl start memoryd 2> /dev/null || true
wait_for 5 ActiveState failed
sleep 2
echo "wrong_settings $(show ActiveState) $(show ExecMainStatus) $(show NRestarts)"

kill $mgr; wait $mgr 2> /dev/null || true
echo $$ > /sys/fs/cgroup/cgroup.procs
find $cg -depth -type d -exec rmdir {} \; 2> /dev/null || true
cat $h/out >&2
