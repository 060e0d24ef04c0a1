# The applications of frameworks; run sources it.

# framework_names prints the names of all cases.
framework_names() { python3 $here/framework.py list | cut -f1; }

# frameworks_at_once is how many applications run at a time: each is busy with
# loading its packages for most of its life.
frameworks_at_once=3

# frameworks CASE… runs the applications of frameworks and compares their traces.
frameworks() {
	local case waiting=()
	for case in "$@"; do
		if [ ${#waiting[@]} -ge $frameworks_at_once ]; then
			framework_ended "${waiting[0]}"
			waiting=("${waiting[@]:1}")
		fi
		framework_start "$case"
		waiting+=("$case")
	done
	for case in "${waiting[@]}"; do framework_ended "$case"; done
	framework_lies "$1"
}

# framework_packages LOCK prints the folder that has the packages of a lock file.
framework_packages() {
	case $1 in
	*.txt) python_packages "$here/$1" ;;
	*) node_packages "$here/${1%/*}" ;;
	esac
}

# framework_start CASE starts the application with the settings that a user makes.
framework_start() {
	local line service packages app settings
	line=$(python3 $here/framework.py list | awk -F '\t' -v name="$1" '$1 == name')
	[ -n "$line" ] || application_fail "there is no framework $1; there are: $(framework_names | xargs)"
	IFS=$'\t' read -r -a settings <<<"$line"
	service=${settings[0]} packages=$(framework_packages "${settings[1]}") app=$apps/frameworks/${settings[2]}
	settings=(OTEL_SERVICE_NAME="$service" HOME="$work" "${settings[@]:3}")
	case $app in
	*.py) start "$service" "${settings[@]}" PYTHONPATH="$packages:$apps/frameworks" python3 "$app" ;;
	*)
		# An ES module finds packages next to itself alone.
		mkdir -p "$work/modules"
		ln -sfn "$packages/node_modules" "$work/modules/node_modules"
		cp "$app" "$work/modules/"
		start "$service" "${settings[@]}" node "$work/modules/${app##*/}"
		;;
	esac
}

framework_ended() {
	ended "$1" || return 0
	python3 $here/framework.py check "$1" "$work/$1.json" || { failed=$((failed + 1)); sed 's/^/  | /' "$work/$1.err" | tail -n 20 >&2; }
}

# framework_lies CASE: a check that cannot fail checks nothing.
framework_lies() {
	local lie
	for lie in name=another cost=0.5 session=nobody tools=7; do
		if python3 $here/framework.py check "$1" "$work/lie.json" --expect "$lie" >"$work/lie"; then
			echo "FAILED: the check of $1 did not notice that $lie is not so" >&2
			failed=$((failed + 1))
		fi
	done
}
