package annotation

import (
	"context"

	"github.com/google/uuid"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/review/labelfile"
)

// ImportItem is an item of a file, with what somebody said about it elsewhere.
type ImportItem struct {
	NewItem
	Answers []labelfile.Answer
}

// ImportTx adds the items of a file to a task. Their answers are kept as what a file
// said, whoever imports it: they are not answers of people here, so that no file makes
// annotators.
func (s *Service) ImportTx(ctx context.Context, tx postgres.Tx, task int64, items []ImportItem) (answers int, err error) {
	list := make([]NewItem, len(items))
	for i, one := range items {
		list[i] = one.NewItem
	}
	added, _, err := s.AddItemsTx(ctx, tx, task, list)
	if err != nil {
		return 0, err
	}
	var ids []int64
	var said []labelfile.Answer
	for i, one := range items {
		for _, a := range one.Answers {
			a.Source = labelfile.SourceImport
			ids, said = append(ids, added[i].ID), append(said, a)
		}
	}
	if len(said) == 0 {
		return 0, nil
	}
	return len(said), s.store.importsTx(ctx, tx, ids, said, principal.ActorOf(ctx), s.now())
}

// Export calls write with the items of a task, oldest first, and with what a reader may
// see of the answers: what the list of items shows them. Answers that were imported are
// those of others.
func (s *Service) Export(ctx context.Context, org principal.OrgID, t Task, reader *uuid.UUID, write func(labelfile.Record) error) error {
	for above := int64(0); ; {
		last, err := s.exportPage(ctx, org, t, reader, above, write)
		if err != nil || last == 0 {
			return err
		}
		above = last
	}
}

// exportPage exports some items above an id and returns the last one's; zero if there
// are none.
func (s *Service) exportPage(ctx context.Context, org principal.OrgID, t Task, reader *uuid.UUID, above int64, write func(labelfile.Record) error) (last int64, err error) {
	account := admission.From(ctx).Part()
	defer account.Close()
	page, err := s.readPage(ctx, account, org, t, reader, above)
	for _, r := range page {
		if err := write(r); err != nil {
			return 0, err
		}
		last = r.ID
	}
	return last, err
}

func (s *Service) readPage(ctx context.Context, account *admission.Account, org principal.OrgID, t Task, reader *uuid.UUID, above int64) (page []labelfile.Record, err error) {
	err = account.Read(ctx, PageBytes, func() (int, error) {
		items, err := s.store.itemsAbove(ctx, org, t.ID, above)
		if err != nil || len(items) == 0 {
			return 0, err
		}
		list, err := s.store.read(ctx, s.db.Org(org), org, reader, items, s.now())
		if err != nil {
			return 0, err
		}
		list = t.hide(list, reader)
		ids, n := make([]int64, len(items)), 0
		for i, one := range items {
			ids[i] = one.ID
			n += one.size()
		}
		imported, err := s.store.imports(ctx, org, ids)
		if err != nil {
			return n, err
		}
		page, err = s.records(ctx, org, t, list, imported)
		return n, err
	})
	return page, err
}
