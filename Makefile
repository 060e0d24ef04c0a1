# The commands of the project. CI runs these names and nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export GOTOOLCHAIN := local
# Without paths, all checkouts of a machine share what was built.
export GOFLAGS := -buildvcs=false -trimpath

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
ENGINES := set -a; . .dev/env; set +a;

.DEFAULT_GOAL := help
.PHONY: help up down status build gen check-gen lint test race dev-test contract licences vuln prove-engines prove-access prove-ingest prove-runs prove-judge prove-people prove-evidence prove-policy prove-events prove-neighbours prove-erasure prove-decisions prove-correction drill failpoints stat-oracle docs-check clients first-hour figures schemathesis smoke ci ci-steps

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

gen: ## Write everything that is generated: schema dump, queries, hashes, OpenAPI, picture.
	$(ENGINES) go run ./internal/gen/schema
	$$(dev/tool sqlc) generate
	go run ./internal/gen/sourcehash
	go run ./cmd/assay openapi > api/openapi.json.new && mv api/openapi.json.new api/openapi.json
	go run ./internal/gen/client
	@# New public names are added; one that is gone stays listed until somebody removes it on purpose.
	jq -r '.components.schemas | keys[]' api/openapi.json | LC_ALL=C sort -u - api/schemas.txt > api/schemas.txt.new && mv api/schemas.txt.new api/schemas.txt
	go run ./internal/arch/cmd/arrows

check-gen: gen ## Fail if something generated is not what is committed.
	@changed=$$(git status --porcelain -- db internal api ARCHITECTURE.md); [ -z "$$changed" ] || \
		{ echo "$$changed"; echo 'Generated files are not up to date: run `make gen` and commit the result.'; exit 1; }

lint: ## Vet and lint; every exception is argued in .golangci.yml.
	$$(dev/tool golangci-lint) run ./...
	$$(dev/tool workflowcheck) ./internal/...
	dev/lint-ci

test: ## Run the tests on the real engines.
	go test ./...

# What the race detector would only slow down: pure computations, generators, the
# commands of a user, and what has a step of its own (contract, smoke).
PURE := agreement|arch|cli|consensus|correction|evidence/internal/(detect|effect|kind|normal|pattern|review|timeline)|gen|metric|policy/internal/engine|redact|schema|stat
UNRACED := /internal/($(PURE)|bench|prove/access|prove/correction)(/|$$)

# Tests that move many megabytes or compute for long take ten times longer with the detector,
# and find no races that smaller ones do not. One that is renamed runs with it again.
BULKY := ^(TestAnAlignmentOfManyAnswersIsLinear|TestAPageEndsWhenItIsLarge|TestARunOfMoreThanAMillionResultsIsRead|TestASourceHasALimit|TestAnswersAndPagesHaveALimit|TestLargeItemsAreReadInPages|TestLists|TestMemoryIsBounded|TestPagesEndWhenTheyHaveEnoughBytes|TestRecordsDoNotGrowWithoutEnd|TestResultsOfAClientAreBounded|TestWhatBecomesOfTheCorpus)$$

race: ## Run the tests, with the race detector where anything could race.
	$$(dev/tool gotestsum) --format pkgname --format-hide-empty-pkg -- -vet=off -ldflags=-w -p 2 $$(go list ./internal/... | grep -E '/internal/(($(PURE))(/|$$)|bench(/traffic)?$$)')
	$$(dev/tool gotestsum) --format pkgname --format-hide-empty-pkg -- -vet=off -ldflags=-w -p 2 -run '$(BULKY)' ./internal/annotation ./internal/app ./internal/client ./internal/dataset ./internal/evaluation ./internal/evidence ./internal/judge ./internal/probe ./internal/result
	@# Compiled first: on a machine that never did, tests with time limits would run beside the compiler.
	@# lint has vetted; symbols for debuggers take a third of the linker's time.
	go build -race ./...
	$$(dev/tool gotestsum) --format pkgname --format-hide-empty-pkg -- -race -vet=off -ldflags=-w -p 2 -timeout 60m -skip '^TestContract$$|$(BULKY)' $$(go list ./... | grep -vE '$(UNRACED)')

dev-test: ## Test the engines' launcher and hold compose.yaml against it.
	cd dev && go vet ./... && go test ./...

contract: ## Validate the OpenAPI document; fail if it departs from the base interface or breaks clients without saying so.
	$$(dev/tool openapi-validator) api/openapi.json
	go run ./internal/gen/contract
	go test -run '^TestContract$$' ./internal/app

licences: ## Check the licences of what is linked into the binary.
	go run ./internal/gen/licences

# What CI could not check; its last lines say so.
NOT_CHECKED := bin/not-checked

vuln: ## Look for known vulnerabilities; says so when their database cannot be reached.
	@mkdir -p bin; rm -f $(NOT_CHECKED); bin=$$(dev/tool govulncheck); out=$$($$bin ./... 2>&1) && code=0 || code=$$?; echo "$$out" | tail -n 40; \
	if [ $$code != 0 ] && grep -q 'fetching vulnerabilities' <<<"$$out"; then \
		echo 'NOT CHECKED: known vulnerabilities, because govulncheck could not reach its database' | tee $(NOT_CHECKED); else exit $$code; fi

failpoints: # The application that proofs kill at its worst moments.
	go build -tags failpoints -o bin/assay-failpoints ./cmd/assay

drill: failpoints ## Do everything at once while everything is killed in turn for some minutes; nothing is lost, doubled or wrong.
	go run ./internal/prove drill $(DRILL)

prove-engines: build ## Kill every engine and the application under load; nothing acknowledged is lost.
	go run ./internal/prove engines -rounds $(or $(ROUNDS),3)

prove-access: ## Try every operation as every kind of caller, and every id as a stranger.
	go run ./internal/prove/access

prove-ingest: failpoints ## Send telemetry while everything it needs breaks; nothing acknowledged is lost or late.
	go run ./internal/prove ingest $(INGEST)

prove-runs: failpoints ## Execute runs while everything they need breaks; every item gets one result.
	go run ./internal/prove runs $(RUNS)

prove-judge: failpoints ## Judge cases while everything breaks and the provider misbehaves; each verdict is paid and recorded once, and the provider key stays secret.
	go run ./internal/prove judge $(JUDGE)

prove-people: failpoints ## Annotate and adjudicate while the server and PostgreSQL are killed; no slot is given twice, no label lost, no item decided twice, and nothing shown early.
	go run ./internal/prove people $(PEOPLE)

prove-evidence: failpoints ## Ingest events of agents while everything they need is killed; none is lost, none has its effect twice, and a request and its result become one record.
	go run ./internal/prove evidence $(EVIDENCE)

prove-policy: failpoints ## Present approvals, approve, suspend and pay while servers are killed; no approval is used too often or given to oneself, no denial is late, and no payment unseen.
	go run ./internal/prove policy $(POLICY)

prove-events: ## Follow events while writers commit late and everything is killed; none is skipped, and they cost others nothing.
	go run ./internal/prove events $(EVENTS)

prove-neighbours: failpoints ## Attack as one organization in every way we know; a quiet one beside it sees no error and waits little longer.
	go run ./internal/prove neighbours $(NEIGHBOURS)

prove-decisions: ## Draw results whose truth is known; gates, comparisons and intervals are wrong as seldom as they say.
	go run ./internal/prove decisions $(DECISIONS)

prove-correction: ## Judge answers of known quality through the whole product; corrected figures contain the truth as often as they say.
	go test -count=1 -timeout 60m -v ./internal/prove/correction -args $(CORRECTION) 2>&1 | grep -E '^(correction|ok|FAIL|---|    correction_test)'

prove-erasure: failpoints ## Delete organizations while everything breaks; every byte of every store is searched for what they had.
	go run ./internal/prove erasure $(ERASURE)

stat-oracle: ## Compare the statistics with scipy, statsmodels, scikit-learn and others on random inputs.
	internal/stat/oracle/run

# What a bench prints, a line as soon as it is there.
FIGURES := grep --line-buffered -vE '^(=== |--- PASS|PASS|ok |\?|[0-9]{4}/[0-9]{2}/)'

bench-evidence: TIMEOUT := 45m
bench-%: ## Measure ratios, whole: rls, edge, body, page, importing, csv, ingest, read, storage, runs, judge, queue, evidence or policy.
	@ASSAY_BENCH=whole go test ./internal/bench/$* -run TestBench -count=1 -v -timeout $(or $(TIMEOUT),15m) | $(FIGURES)

docs-check: build ## Run every command of the documents.
	$(ENGINES) docs/check

clients: ## Send from real OpenTelemetry packages to a real server, and ask the simulated provider with the vendors' clients; compare.
	e2e/provider/run
	e2e/otel/run

first-hour: ## Follow the page for new users from an empty server to a gate, and time it.
	e2e/first-hour/run

figures: ## Compute the figures of runs anew from their files, with numpy and scipy, and compare.
	e2e/figures/run

schemathesis: ## Send requests made from the OpenAPI document to a server; every response must keep to it.
	e2e/schemathesis/run

# Every proof and bench, shortened. A proof without a control proves nothing: each runs
# one at least.
SMOKE := smoke-engines smoke-access smoke-ingest smoke-runs smoke-judge smoke-people smoke-evidence smoke-policy smoke-events smoke-decisions smoke-correction smoke-neighbours smoke-bench
.PHONY: $(SMOKE)

# They kill engines of their own, and measure: one at a time.
.NOTPARALLEL:

smoke: $(SMOKE) ## Run every proof and bench, shortened.

smoke-engines:    ; $(MAKE) prove-engines ROUNDS=1
smoke-access:     ; $(MAKE) prove-access
smoke-ingest:     ; $(MAKE) prove-ingest INGEST='-faults 4 -spans 5000 -away 0s'
smoke-runs:       ; $(MAKE) prove-runs RUNS='-runs 12 -faults 8 -controls forget_done -large 10000'
smoke-judge:      ; $(MAKE) prove-judge JUDGE='-runs 2 -faults 5 -caps 1 -controls lose_verdict,tell_key'
smoke-people:     ; $(MAKE) prove-people PEOPLE='-items 300 -faults 2'
smoke-evidence:   ; $(MAKE) prove-evidence EVIDENCE='-faults 4 -events 3000'
smoke-policy:     ; $(MAKE) prove-policy POLICY='-approvals 4 -evaluations 60 -faults 3 -trials 15 -payments 36 -cases 2000 -seed 1'
smoke-events:     ; $(MAKE) prove-events EVENTS='-faults 3 -acked 300 -events 200000 -rounds 41'
smoke-decisions:  ; $(MAKE) prove-decisions DECISIONS='-draws 400'
smoke-correction: ; $(MAKE) prove-correction CORRECTION='-reps 8 -items 2000'
smoke-neighbours: ; $(MAKE) prove-neighbours NEIGHBOURS='-alone 10s -each 12s -only "gzip bombs,slow readers" -controls read_first'
smoke-bench:      ; go test -p 1 -count=1 -timeout 30m -v -run TestBench ./internal/bench/... | $(FIGURES)

CI := check-gen contract lint dev-test licences vuln race stat-oracle docs-check clients first-hour figures schemathesis $(SMOKE)

ci: $(CI) ## Everything that must pass before a change lands.
	@if [ -s $(NOT_CHECKED) ]; then cat $(NOT_CHECKED); fi

ci-steps: # What ci consists of, for a caller that times each step.
	@echo $(CI)
