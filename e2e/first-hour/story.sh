# Runs the steps of the page, in the folder that page.py wrote, and holds what
# came of each against what the page says; run starts it. Names of this file are
# in capitals, and those of the page are not.

FIRST_TRACE=120 # seconds that a new user waits for the first trace at most

exec 3>&2 # what a step prints goes to a file, also while it ends the script
mkdir output
declare -A TOOK
HEADINGS=()
STEP=

FINISH() {
	local code=$?
	trap - EXIT
	[ "$code" = 0 ] || [ -z "$STEP" ] || { echo "FAILED: $STEP; what it printed:"; sed 's/^/  | /' "output/$STEP"; } >&3
	kill $(jobs -p) 2>/dev/null || true
	wait || true
	exit "$code"
}
trap FINISH EXIT
trap 'exit 143' TERM

NOW() { echo "${EPOCHREALTIME/[.,]/}"; } # microseconds
SECONDS_OF() { printf '%d.%d' $(($1 / 1000000)) $(($1 / 100000 % 10)); }
FAIL() {
	echo "FAILED: $*" >&3
	exit 1
}

# HAS TEXT: the step printed it.
HAS() { grep -qF -- "$1" "output/$STEP" || FAIL "$STEP did not print: $1"; }

# EXPECT says what must be so after a step.
EXPECT() {
	case $STEP in
	*'02 Start Assay') HAS 'No problem found.' ;;
	*'03 Send a trace') HAS 'Your invoices are under Billing.' ;;
	*'04 Send a trace')
		SEEN=$(($(NOW) - BEGAN))
		[ $SEEN -lt $((FIRST_TRACE * 1000000)) ] || FAIL "the first trace was visible after $(SECONDS_OF $SEEN) s, not within $FIRST_TRACE s"
		assay traces get "$trace" --json >trace.json
		jq -e '.status == "completed" and .input == "Where is my invoice?" and .output == "Your invoices are under Billing."
			and .service_name == "support" and .cost_usd > 0 and ([.spans[] | select(.primitive_type == "model_call")] | length) == 1' trace.json >/dev/null ||
			FAIL "the trace is not what the program did: $(jq -c 'del(.spans)' trace.json)"
		;;
	*'05 Make a dataset') HAS '1 item added to Support questions' ;;
	*'06 Make a dataset')
		HAS '23 created, 0 already there, 0 refused'
		assay dataset export "Support questions" items.jsonl >/dev/null
		jq -se 'length == 24 and all(.expected_output) and any(.input == "Where is my invoice?")' items.jsonl >/dev/null || FAIL 'the dataset is not what was added'
		;;
	*'08 Measure your application' | *'12 Fix it') HAS 'PASS: 2 requirements met.' ;;
	*'09 Break it')
		HAS 'FAIL: 2 of 2 requirements failed.'
		HAS 'exit code 1'
		;;
	*'10 Break it') HAS 'YOUR INVOICES ARE UNDER BILLING.' ;;
	esac
}

# UNFIXED: a check that cannot fail checks nothing. The last gate is asked while
# the application is still broken.
UNFIXED() {
	local last code
	for last in steps/*; do :; done
	set +e
	(. "$last") >"output/$STEP" 2>&1
	code=$?
	set -e
	[ "$code" = 1 ] || FAIL "the gate of an application that is still broken exits with $code"
}

BEGAN=$(NOW)
for FILE in steps/*; do
	STEP=${FILE#*/} HEADING=${FILE#*/?? }
	FROM=$(NOW)
	if [ "$STEP" = '11 Fix it' ]; then
		[ "${FIRST_HOUR:-}" != unfixed ] || continue
		UNFIXED
		FROM=$(NOW)
	fi
	{ . "$FILE"; } >"output/$STEP" 2>&1
	[ -n "${TOOK[$HEADING]:-}" ] || HEADINGS+=("$HEADING")
	TOOK[$HEADING]=$((${TOOK[$HEADING]:-0} + $(NOW) - FROM))
	EXPECT
done
STEP=

for HEADING in "${HEADINGS[@]}"; do printf '%-26s %6s s\n' "$HEADING" "$(SECONDS_OF "${TOOK[$HEADING]}")"; done
printf '%-26s %6s s\n' 'first trace visible after' "$(SECONDS_OF $SEEN)" 'all of it' "$(SECONDS_OF $(($(NOW) - BEGAN)))"
