# The commands of the project. CI runs these names and nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export GOTOOLCHAIN := local
# Without paths, all checkouts of a machine share what was built.
export GOFLAGS := -buildvcs=false -trimpath

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# What all checkouts of a machine share, beside Go's own caches.
CACHE := $(or $(ASSAY_CACHE),$(HOME)/.cache/assay)
ENGINES := set -a; . .dev/env; set +a;

.DEFAULT_GOAL := help
.PHONY: help up down status build gen check-gen lint test race race-all test-own dev-test contract licences vuln prove-engines prove-access prove-ingest prove-runs prove-judge prove-people prove-evidence prove-policy prove-events prove-neighbours prove-erasure prove-decisions prove-correction drill failpoints stat-oracle docs-check clients first-hour figures schemathesis schemathesis-all bench bench-all profile sabotage noun ci ci-steps nightly nightly-steps

# Engines are killed and times are measured: one step at a time.
.NOTPARALLEL:

help: ## List the commands.
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

up: ## Start PostgreSQL, ClickHouse, Temporal and Redis for this checkout.
	@dev/engines up

down: ## Stop the engines; their data stays under .dev/.
	@dev/engines down

status: ## Show the engines, their addresses and logs.
	@dev/engines status

build: ## Build bin/assay.
	go build -ldflags '-X main.version=$(VERSION)' -o bin/assay ./cmd/assay

gen: ## Write everything that is generated: schema dump, queries, names of kinds, hashes, OpenAPI, picture, page of events.
	$(ENGINES) go run ./internal/tool/gen/schema
	$$(dev/tool sqlc) generate
	go run ./internal/tool/gen/kind
	go run ./internal/tool/gen/sourcehash
	go run ./cmd/assay openapi > api/openapi.json.new && mv api/openapi.json.new api/openapi.json
	go run ./internal/tool/gen/client
	@# New public names are added; one that is gone stays listed until somebody removes it on purpose.
	jq -r '.components.schemas | keys[]' api/openapi.json | LC_ALL=C sort -u - api/schemas.txt > api/schemas.txt.new && mv api/schemas.txt.new api/schemas.txt
	go run ./internal/tool/arch/cmd/pages

check-gen: gen ## Fail if something generated is not what is committed.
	@changed=$$(git status --porcelain -- db internal api ARCHITECTURE.md docs/event-types.md); [ -z "$$changed" ] || \
		{ echo "$$changed"; echo 'Generated files are not up to date: run `make gen` and commit the result.'; exit 1; }

lint: ## Vet and lint; every exception is argued in .golangci.yml.
	GOLANGCI_LINT_CACHE=$(CACHE)/golangci-lint $$(dev/tool golangci-lint) run ./...
	@# Alone it would read all sources each time; as a tool of vet it begins from what Go has cached.
	tool=$$(dev/tool workflowcheck); go vet -vettool="$$tool" ./internal/...
	dev/lint-ci

# lint has vetted; symbols for debuggers take a third of the linker's time.
TESTS := $$(dev/tool gotestsum) --format pkgname --format-hide-empty-pkg
FLAGS := -vet=off -ldflags=-w -p 2 -parallel 4 -timeout 60m
BOOTS := $(CURDIR)/bin/boots

test: ## Run the tests on the real engines; the results of tests that need none are taken from Go's cache.
	@# Compiled first: else tests would run beside the compiler.
	@mkdir -p bin; rm -f bin/test-pure.json bin/test.json $(BOOTS)
	go build ./...
	packages=$$(dev/suite packages pure); $(TESTS) --jsonfile bin/test-pure.json -- $(FLAGS) $$packages
	packages=$$(dev/suite packages world); ASSAY_TEST_BOOTS=$(BOOTS) $(TESTS) --jsonfile bin/test.json -- $(FLAGS) -count=1 $$packages

test-own: ## Run the tests with an application for each kit: what sharing one hides shows here.
	$(MAKE) test ASSAY_TEST_OWN=1

race: ## Look for data races in packages that share memory.
	@mkdir -p bin; rm -f bin/race.json
	packages=$$(dev/suite packages raced); $(TESTS) --jsonfile bin/race.json -- -race $(FLAGS) -count=1 $$packages

race-all: ## Run all tests with the race detector.
	@mkdir -p bin; rm -f bin/race-all.json
	go build -race ./...
	packages=$$(dev/suite packages all); $(TESTS) --jsonfile bin/race-all.json -- -race $(FLAGS) -count=1 $$packages

profile: ## Print where the seconds of tests go, and what is built more than once; PACKAGES names some.
	dev/profile $(PACKAGES)

dev-test: ## Test the engines' launcher and what chooses and times the checks; hold compose.yaml against the launcher.
	@# Tests read files outside their module, which the cache of results does not know.
	cd dev && go vet ./... && go test -count=1 ./...

contract: ## Validate the OpenAPI document; fail if it departs from the base interface or breaks clients without saying so.
	$$(dev/tool openapi-validator) api/openapi.json
	go run ./internal/tool/gen/contract

licences: ## Check the licences of what is linked into the binary.
	go run ./internal/tool/gen/licences

# What CI could not check; its last lines say so.
NOT_CHECKED := bin/not-checked

vuln: ## Look for known vulnerabilities; says so when their database cannot be reached.
	@mkdir -p bin; rm -f $(NOT_CHECKED); bin=$$(dev/tool govulncheck); out=$$($$bin ./... 2>&1) && code=0 || code=$$?; echo "$$out" | tail -n 40; \
	if [ $$code != 0 ] && grep -q 'fetching vulnerabilities' <<<"$$out"; then \
		echo 'NOT CHECKED: known vulnerabilities, because govulncheck could not reach its database' | tee $(NOT_CHECKED); else exit $$code; fi

failpoints: # The application that proofs kill at its worst moments.
	go build -tags failpoints -o bin/assay-failpoints ./cmd/assay

drill: failpoints ## Do everything at once while everything is killed in turn for some minutes; nothing is lost, doubled or wrong.
	go run ./internal/test/prove drill $(DRILL)

prove-engines: build ## Kill every engine and the application under load; nothing acknowledged is lost.
	go run ./internal/test/prove engines -rounds $(or $(ROUNDS),3)

prove-access: ## Try every operation as every kind of caller, and every id as a stranger.
	go run ./internal/test/prove/access $(ACCESS)

prove-ingest: failpoints ## Send telemetry while everything it needs breaks; nothing acknowledged is lost or late.
	go run ./internal/test/prove ingest $(INGEST)

prove-runs: failpoints ## Execute runs while everything they need breaks; every item gets one result.
	go run ./internal/test/prove runs $(RUNS)

prove-judge: failpoints ## Judge cases while everything breaks and the provider misbehaves; each verdict is paid and recorded once, and the provider key stays secret.
	go run ./internal/test/prove judge $(JUDGE)

prove-people: failpoints ## Annotate and adjudicate while the server and PostgreSQL are killed; no slot is given twice, no label lost, no item decided twice, and nothing shown early.
	go run ./internal/test/prove people $(PEOPLE)

prove-evidence: failpoints ## Ingest events of agents while everything they need is killed; none is lost, none has its effect twice, and a request and its result become one record.
	go run ./internal/test/prove evidence $(EVIDENCE)

prove-policy: failpoints ## Present approvals, approve, suspend and pay while servers are killed; no approval is used too often or given to oneself, no denial is late, and no payment unseen.
	go run ./internal/test/prove policy $(POLICY)

prove-events: ## Follow events while writers commit late and everything is killed; none is skipped, and they cost others nothing.
	go run ./internal/test/prove events $(EVENTS)

prove-neighbours: failpoints ## Attack as one organization in every way we know; a quiet one beside it sees no error and waits little longer.
	go run ./internal/test/prove neighbours $(NEIGHBOURS)

prove-decisions: ## Draw results whose truth is known; gates, comparisons and intervals are wrong as seldom as they say.
	go run ./internal/test/prove decisions $(DECISIONS)

prove-correction: ## Judge answers of known quality through the whole product; corrected figures contain the truth as often as they say.
	go test -count=1 -timeout 60m -v ./internal/test/prove/correction -args $(CORRECTION) 2>&1 | grep -E '^(correction|ok|FAIL|---|    correction_test)'

prove-erasure: failpoints ## Delete organizations while everything breaks; every byte of every store is searched for what they had.
	go run ./internal/test/prove erasure $(ERASURE)

stat-oracle: ## Compare the statistics with scipy, statsmodels, scikit-learn and others on random inputs.
	internal/measure/stat/oracle/run

# What a bench prints, a line as soon as it is there. A folder without a bench is an error.
FIGURES := awk '/no tests to run/ { none = 1 } !/^(=== |--- PASS|PASS|ok |\?|[0-9]+\/[0-9]+\/[0-9]+ )/ { print; fflush() } END { exit none }'

bench-evidence: TIMEOUT := 45m
bench-%: ## Measure ratios, whole: rls, edge, body, page, importing, csv, ingest, read, storage, runs, judge, queue, evidence or policy.
	@ASSAY_BENCH=whole go test ./internal/test/bench/$* -run TestBench -count=1 -v -timeout $(or $(TIMEOUT),15m) | $(FIGURES)

# Each guards a promise that no test can: that isolation costs little (rls), that no body
# takes more memory than its limit allows (body), and that a deep page is not a slow one (page).
bench: ## Measure what is promised, shortened.
	go test -p 1 -count=1 -v -run TestBench ./internal/test/bench/rls ./internal/test/bench/body ./internal/test/bench/page | $(FIGURES)

bench-all: ## Run every bench, shortened.
	packages=$$(dev/suite packages bench); go test -p 1 -count=1 -timeout 30m -v -run TestBench $$packages | $(FIGURES)

docs-check: build ## Run every command of the documents.
	$(ENGINES) docs/check

clients: ## Send from real OpenTelemetry packages to a real server, and ask the simulated provider with the vendors' clients; compare.
	e2e/provider/run
	e2e/otel/run

first-hour: ## Follow the page for new users from an empty server to a gate, and time it.
	e2e/first-hour/run

figures: ## Compute the figures of runs anew from their files, with numpy and scipy, and compare.
	e2e/figures/run

schemathesis: ## Send a few requests made from the OpenAPI document for each operation; every response must keep to it.
	EXAMPLES=3 e2e/schemathesis/run

schemathesis-all: ## The same with many requests.
	e2e/schemathesis/run

CI := check-gen contract lint dev-test licences vuln test race prove-access docs-check clients first-hour figures schemathesis bench drill

ci: $(CI) ## Everything that must pass before a change lands.
	@if [ -s $(NOT_CHECKED) ]; then cat $(NOT_CHECKED); fi

# Every proof, with all of its controls. engines and access are whole.
# The others have the size that is stated here, because whole ones together take most
# of a day; `make prove-NAME` alone is whole.
NIGHT := night-engines night-access night-ingest night-runs night-judge night-people night-evidence night-policy night-events night-decisions night-correction night-neighbours night-erasure
.PHONY: $(NIGHT)

night-engines:    ; $(MAKE) prove-engines
night-access:     ; $(MAKE) prove-access ACCESS=-race
night-ingest:     ; $(MAKE) prove-ingest INGEST='-faults 12 -spans 20000 -away 15s'
night-runs:       ; $(MAKE) prove-runs RUNS='-runs 24 -faults 12 -large 20000'
night-judge:      ; $(MAKE) prove-judge JUDGE='-runs 4 -faults 10 -caps 1'
night-people:     ; $(MAKE) prove-people PEOPLE='-items 500 -faults 4'
night-evidence:   ; $(MAKE) prove-evidence EVIDENCE='-faults 8 -events 8000'
night-policy:     ; $(MAKE) prove-policy POLICY='-approvals 6 -evaluations 100 -faults 4 -trials 40 -payments 60'
night-events:     ; $(MAKE) prove-events EVENTS='-faults 6 -acked 500 -events 1000000'
night-decisions:  ; $(MAKE) prove-decisions DECISIONS='-draws 2000'
night-correction: ; $(MAKE) prove-correction CORRECTION='-reps 8 -items 2000'
night-neighbours: ; $(MAKE) prove-neighbours NEIGHBOURS='-alone 10s -each 6s'
night-erasure:    ; $(MAKE) prove-erasure ERASURE='-rounds 3'

sabotage: ## Seed faults, each into a copy of the checkout; the checks must find them.
	dev/sabotage

noun: ## Add a noun to a copy of the checkout by following its page; everything that holds for nouns holds for it.
	go test -count=1 -v ./internal/tool/page -run '^TestPageAddsANoun$$' -args -whole

NIGHTLY := race-all test-own stat-oracle schemathesis-all bench-all $(NIGHT) sabotage noun

nightly: $(NIGHTLY) ## Everything that `make ci` leaves out, whole or at its stated size.

# What they consist of, for a caller that times each step.
ci-steps:
	@echo $(CI)
nightly-steps:
	@echo $(NIGHTLY)
