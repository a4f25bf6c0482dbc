#!/usr/bin/env bash
# A Kubernetes control plane in one folder: etcd and kube-apiserver on free loopback ports, and kube-controller-manager
# where it is asked for. Takes four seconds.
#
# usage: up.sh DIR [--controllers] [--attached]
#
#   --controllers  start kube-controller-manager too (owner references, Deployments, namespaces that go away)
#   --attached     stay, print "ready" on standard output, and stop everything when standard input ends. A test that
#                  holds the other end of that pipe cannot leave servers behind, however it dies.
#
# Without --attached, stop it with down.sh DIR. DIR then holds
#
#   kubeconfig           of the administrator
#   operator.kubeconfig  of the user "operator", each of whose requests is one JSON line in audit/log. Its groups are
#                        $OPERATOR_GROUPS: by default system:masters; give "" to test a role
#   NAME.log, NAME.pid   of etcd, apiserver, controllers
#   NAME.sh              starts that part again after it was killed
#
# The programs come from build.sh. etcd is $ETCD, or the one beside them, or Debian's.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "${1:?usage: up.sh DIR [--controllers] [--attached]}"
dir=$(cd "$1" && pwd)
controllers= attached=
for option in "${@:2}"; do
  case $option in
    --controllers) controllers=yes ;;
    --attached) attached=yes ;;
    *) echo "up.sh: unknown option $option" >&2; exit 2 ;;
  esac
done
programs=$("$here/build.sh")
etcd=${ETCD:-$programs/etcd}
[ -x "$etcd" ] || etcd=$(command -v etcd) || { echo "up.sh: etcd is missing: apt-get install etcd-server" >&2; exit 1; }

cd "$dir"
mkdir -p pki audit
trap '"$here/down.sh" "$dir"' EXIT
trap 'exit 130' INT TERM HUP

# Below the ports that the kernel gives to outgoing connections, so that none of those can take one in between.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((RANDOM % 12000 + 20000))
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  echo "up.sh: no free port on 127.0.0.1" >&2
  return 1
}

# Writes NAME.sh, which starts the program in a session of its own: a ctrl-c meant for the tests does not reach it.
part() { # NAME PROGRAM ARGUMENT...
  local name=$1
  shift
  {
    printf '#!/usr/bin/env bash\ncd %q\n' "$dir"
    printf 'setsid '
    printf '%q ' "$@"
    printf '</dev/null >>%s.log 2>&1 9>&- &\necho $! >%s.pid\n' "$name" "$name"
  } >"$name.sh"
  chmod +x "$name.sh"
  "./$name.sh"
}

# Waits until COMMAND succeeds; gives up at once if NAME is gone, and after five minutes in any case: they bound a hang, whatever else the
# machine does.
wait_for() { # NAME COMMAND...
  local name=$1
  shift
  for _ in $(seq 3000); do
    "$@" >/dev/null 2>&1 && return
    kill -0 "$(cat "$name.pid")" 2>/dev/null || break
    sleep 0.1
  done
  echo "up.sh: $name did not become ready; the end of $dir/$name.log:" >&2
  tail -n 20 "$name.log" >&2
  return 1
}

umask 077
openssl ecparam -name prime256v1 -genkey -noout -out pki/service-accounts.key 2>/dev/null
openssl rand -hex 16 >pki/admin.token
openssl rand -hex 16 >pki/operator.token
printf '%s,admin,admin,"system:masters"\n%s,operator,operator,"%s"\n' \
  "$(cat pki/admin.token)" "$(cat pki/operator.token)" "${OPERATOR_GROUPS-system:masters}" >pki/tokens.csv
cat >audit/policy.yaml <<Y
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, users: [operator]}
  - {level: None}
Y
client_port=$(free_port) peer_port=$(free_port) server_port=$(free_port) controllers_port=$(free_port)

kubeconfig() { # USER FILE
  cat >"$2" <<Y
apiVersion: v1
kind: Config
clusters:
  - name: test
    cluster: {server: "https://127.0.0.1:$server_port", certificate-authority: $dir/pki/apiserver.crt}
users:
  - name: $1
    user: {token: "$(cat "pki/$1.token")"}
contexts:
  - name: test
    context: {cluster: test, user: $1}
current-context: test
Y
}
kubeconfig admin kubeconfig
kubeconfig operator operator.kubeconfig

# Data that nobody needs after the run: no fsync.
part etcd "$etcd" --data-dir etcd --unsafe-no-fsync --logger zap \
  --listen-client-urls "http://127.0.0.1:$client_port" --advertise-client-urls "http://127.0.0.1:$client_port" \
  --listen-peer-urls "http://127.0.0.1:$peer_port"
# No endpoint reconciler: it refuses loopback addresses, and nothing here looks for the "kubernetes" service.
part apiserver "$programs/kube-apiserver" --etcd-servers "http://127.0.0.1:$client_port" \
  --bind-address 127.0.0.1 --secure-port "$server_port" --cert-dir pki --endpoint-reconciler-type none \
  --service-cluster-ip-range 10.0.0.0/16 --allow-privileged \
  --service-account-issuer https://kubernetes.default.svc \
  --service-account-key-file pki/service-accounts.key --service-account-signing-key-file pki/service-accounts.key \
  --authorization-mode RBAC --token-auth-file pki/tokens.csv \
  --audit-policy-file audit/policy.yaml --audit-log-path audit/log --audit-log-maxsize 100000
wait_for apiserver "$programs/kubectl" --kubeconfig kubeconfig get --raw /readyz
if [ -n "$controllers" ]; then
  part controllers "$programs/kube-controller-manager" --kubeconfig kubeconfig \
    --bind-address 127.0.0.1 --secure-port "$controllers_port" --cert-dir pki/controllers --leader-elect=false \
    --service-account-private-key-file pki/service-accounts.key --use-service-account-credentials \
    --pvclaimbinder-sync-period 1s
  wait_for controllers "$programs/kubectl" --kubeconfig kubeconfig get serviceaccount/default configmap/kube-root-ca.crt
fi

if [ -n "$attached" ]; then
  echo ready
  cat >/dev/null # until the other end of the pipe is gone
  cd / # the folder may go at any moment now: the next test process clears up, too
  "$here/down.sh" "$dir"
  rm -rf "$dir/etcd" # the logs stay
else
  trap - EXIT
  echo "export KUBECONFIG=$dir/kubeconfig"
fi
