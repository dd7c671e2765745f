# Shared by the benchmark scripts: ports, CPU time of a process, waiting for a line. To be sourced.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d /tmp/pgnear-bench-XXXXXX)
pids=()
cleanup() {
  set +e # a process that has ended already must not end the cleaning up
  for p in "${pids[@]:-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null; done
  wait 2>/dev/null || true
  [ -n "${pgdata:-}" ] && as_postgres "$pgbin/pg_ctl" -D "$pgdata" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

free_port() {
  local p
  while :; do
    p=$((20000 + RANDOM % 20000))
    (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null || { echo "$p"; return; }
  done
}

# CPU time (user and system) of a process so far, in microseconds.
cpu_us() { awk -v hz="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print int(($12 + $13) * 1000000 / hz)}' "/proc/$1/stat"; }

await_line() { # file, pattern, seconds
  local i
  for ((i = 0; i < $3 * 10; i++)); do
    grep -qE "$2" "$1" 2>/dev/null && return 0
    sleep 0.1
  done
  echo "no line /$2/ within $3 s:" >&2
  cat "$1" >&2
  return 1
}

median() { sort -n | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
spread() { sort -n | awk 'NR == 1 {min = $1} {max = $1} END {print min ".." max}'; }

as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

environment() { # one JSON object: what this ran on
  printf '"commit":"%s","kernel":"%s","cpu":"%s","cores":%d,"date":"%s"' "$(git -C "$root" rev-parse --short HEAD)" "$(uname -r)" \
    "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(date -u +%FT%TZ)"
}
