# Functions for scripts that need a running application. Source it at the root
# of a checkout whose engines are up:
#
#   . dev/application.sh
#   application_start documents     # sets SERVICE_URL, SERVICE_API_KEY, work, …
#
# The application shares nothing with others: databases, ports, task queue and
# object storage are its own, and are removed when the script ends.

# application_start NAME builds the application, starts it on databases
# whose names begin with NAME and waits until it is ready. Afterwards:
#
#   work                      a folder of the script's own; assay is in it and on PATH
#   app                       the process
#   SERVICE_URL, SERVICE_API_KEY, SERVICE_ORGANIZATION_ID
#   grpc_url                  where OTLP over gRPC is taken
application_start() {
	application_prepare "$1"
	assay migrate >"$work/app.log"
	assay admin bootstrap --organization "$1" >"$work/key"
	set -a
	. "$work/key"
	set +a
	assay all >>"$work/app.log" 2>&1 &
	app=$!
	for _ in $(seq 150); do
		[ -z "$(application_listens '"reference"')" ] || [ -z "$(application_listens '"otlp\/grpc"')" ] || break
		kill -0 "$app" 2>/dev/null || break
		sleep 0.1
	done
	export SERVICE_URL=http://$(application_listens '"reference"')
	grpc_url=http://$(application_listens '"otlp\/grpc"')
	for _ in $(seq 100); do
		curl -sf -o /dev/null "$SERVICE_URL/api/health/ready" && return
		sleep 0.2
	done
	cat "$work/app.log" >&2
	application_fail 'the application is not ready'
}

# application_prepare NAME builds the application and makes its databases. Its
# settings are in the environment; nothing is started.
application_prepare() {
	local label=$1 http_port login
	[ -f .dev/env ] || application_fail 'the engines are not running: run `make up`'
	local program
	for program in curl psql go; do
		command -v "$program" >/dev/null || application_fail "$program is missing"
	done
	work=$(mktemp -d)
	name=assay_${label}_$$_$RANDOM
	app=
	set -a
	. .dev/env
	set +a
	admin=$ASSAY_POSTGRES_OWNER_URL
	http_port=$(sed -n 's/.*"clickhouse-http": *\([0-9]*\).*/\1/p' .dev/ports.json)
	login=${ASSAY_CLICKHOUSE_URL#*://}
	login=${login%%@*}
	application_clickhouse="-u $login http://127.0.0.1:$http_port/"
	trap application_stop EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM

	GOTOOLCHAIN=local go build -buildvcs=false -trimpath -o "$work/assay" ./cmd/assay
	psql "$admin" -qc "CREATE DATABASE $name"
	application_query "CREATE DATABASE $name" >/dev/null
	local setting
	for setting in ASSAY_POSTGRES_URL ASSAY_POSTGRES_OWNER_URL ASSAY_CLICKHOUSE_URL ASSAY_CLICKHOUSE_READER_URL; do
		export "$setting=$(sed -E "s#/assay(\?|\$)#/$name\1#" <<<"${!setting}")"
	done
	export ASSAY_KEY_PEPPER="a pepper for the checks of $label alone"
	export ASSAY_HTTP_ADDR=127.0.0.1:0 ASSAY_HTTP_INTERNAL_ADDR= ASSAY_TRACE_GRPC_ADDR=127.0.0.1:0
	export ASSAY_BLOB_URL=file://$work/blobs ASSAY_TEMPORAL_QUEUE_PREFIX=$name
	export PATH=$work:$PATH
}

# application_listens PATTERN prints the address of the listener whose log line
# has it.
application_listens() {
	sed -n '/"msg":"listening"/{/'"$1"'/s/.*"addr":"\([^"]*\)".*/\1/p}' "$work/app.log"
}

# application_query runs a statement in ClickHouse.
application_query() {
	# shellcheck disable=SC2086 # the login and the address are two words
	curl -sS --fail-with-body --max-time 20 $application_clickhouse --data-binary "$1"
}

# application_stop ends everything that application_start began; a script that
# has processes of its own defines at_exit.
application_stop() {
	local code=$?
	trap - EXIT
	! declare -F at_exit >/dev/null || at_exit || true
	if [ -n "$app" ]; then
		kill "$app" 2>/dev/null || true
		wait "$app" 2>/dev/null || true
	fi
	PGOPTIONS='-c client_min_messages=warning' psql "$admin" -qc "DROP DATABASE IF EXISTS $name WITH (FORCE)" || true
	application_query "DROP DATABASE IF EXISTS $name" >/dev/null || true
	rm -rf "$work"
	exit "$code"
}

application_fail() {
	echo "$0: $*" >&2
	exit 1
}

# python_packages FILE prints the folder that has the packages of a lock file;
# node_packages FOLDER the same for the folder of a package-lock.json. What is
# not there is installed, outside the checkout.
python_packages() {
	packages "$({ cat "$1"; python3 --version; } | sha256sum)" \
		python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-deps --target . -r "$PWD/$1"
}

node_packages() {
	packages "$({ cat "$1"/package.json "$1"/package-lock.json; node --version; } | sha256sum)" \
		bash -c 'cp "$0"/package.json "$0"/package-lock.json . && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error' "$PWD/$1"
}

# packages KEY COMMAND… prints the folder of the key, which the command fills if
# it is missing. The folder appears complete or not at all, and one installer
# works at a time.
packages() {
	local home=${ASSAY_CACHE:-$HOME/.cache/assay}/packages-${1:0:16}
	shift
	if [ ! -d "$home" ]; then
		mkdir -p "${home%/*}"
		exec 9>"$home.lock"
		flock 9
		if [ ! -d "$home" ]; then
			echo "installing packages into $home" >&2
			rm -rf "$home.partial"
			mkdir -p "$home.partial"
			(cd "$home.partial" && "$@") >&2
			mv "$home.partial" "$home"
		fi
		exec 9>&-
	fi
	echo "$home"
}
