package policy

import (
	"context"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/platform/admission"
)

const (
	// backtestPage is how many records are read at once, and pageBytes how much that is at
	// most.
	backtestPage = 500
	pageBytes    = 16 << 20

	// maxVerdicts is how many approvals, and how many failures, about the decisions of a page
	// are read.
	maxVerdicts = 2000
)

// decisions selects the decisions that a back-test is about: those that the platform made.
func (b *Backtest) decisions() evidence.List {
	l := evidence.MadeHere(kind.PolicyDecisions)
	l.CreatedAfter, l.CreatedBefore = &b.Since, &b.Until
	if b.RuntimeKey != "" {
		l.Restrict("runtimeKey", []string{b.RuntimeKey})
	}
	if b.ConnectorKey != "" {
		l.Restrict("connectorKey", []string{b.ConnectorKey})
	}
	return l
}

// read reads a page of decisions, newest first, and says whether others follow. All pages use
// the room of the first.
func (t *backtest) read(ctx context.Context, l *evidence.List) (page []evidence.Record, more bool, err error) {
	get := func() (int, error) {
		page, more, _, err = t.evidence.List(ctx, t.org, *l)
		return pageBytes, err
	}
	if l.Below == 0 {
		err = admission.From(ctx).Read(ctx, pageBytes, get)
	} else {
		_, err = get()
	}
	if len(page) > 0 {
		l.Below = page[len(page)-1].ID
	}
	return page, more, err
}

// about calls each with the records of a list that name one of some decisions, as far as they are
// read, and reports whether there are others.
func (t *backtest) about(ctx context.Context, l evidence.List, each func(*evidence.Record)) (more bool, err error) {
	l.Limit = backtestPage
	for rest := maxVerdicts; rest > 0; {
		var page []evidence.Record
		if page, more, _, err = t.evidence.List(ctx, t.org, l); err != nil {
			return false, err
		}
		for i := range page {
			each(&page[i])
			l.Below = page[i].ID
		}
		if rest -= len(page); !more {
			return false, nil
		}
	}
	return true, nil
}
