package dataset

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// ItemsNamed are the items that a request is about.
type ItemsNamed struct {
	ItemIDs []httpapi.IDInput `json:"itemIds" minItems:"1" maxItems:"1000" doc:"Ids of the items; at most 1,000."`
}

// ids are the items, each once, in the order of the request.
func (n ItemsNamed) ids() []int64 {
	seen := make(map[int64]bool, len(n.ItemIDs))
	var out []int64
	for _, id := range n.ItemIDs {
		if id := int64(id); !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

type updateItemsInput struct {
	Path
	Body itemsPatch
}

type itemsPatch struct {
	ItemsNamed
	Labels httpapi.Patch[httpapi.JSON] `json:"labels,omitzero" doc:"Labels to set, merged with those that an item has: a label that is null is removed, and null in place of the object removes all."`
	Split  httpapi.Patch[string]       `json:"split,omitzero" enum:"train,dev,test" doc:"New split; null removes it."`
	Weight httpapi.Patch[float64]      `json:"weight,omitzero" minimum:"0" maximum:"1000000" doc:"New weight; null resets it to 1."`
}

// Check refuses a request that changes nothing.
func (p *itemsPatch) Check(context.Context) error {
	if !p.Labels.Sent && !p.Split.Sent && !p.Weight.Sent {
		return fault.Invalid("body", "", "one_of_required", "has no change: send labels, split or weight")
	}
	if p.Labels.Sent && p.Labels.Value != nil && jsontext.Value(p.Labels.Value).Kind() != '{' && jsontext.Value(p.Labels.Value).Kind() != 'n' {
		return fault.Invalid("body", "/labels", "type", "must be an object with the labels to set, or null")
	}
	return nil
}

// apply makes the sent changes.
func (p *itemsPatch) apply(i *Item) {
	if p.Labels.Sent {
		i.Content.Labels = mergeLabels(i.Content.Labels, jsontext.Value(p.Labels.Value))
	}
	itemPatch{Split: p.Split, Weight: p.Weight}.apply(i)
}

type updatedItemsBody struct {
	Updated   int          `json:"updated" doc:"Number of items that changed."`
	Unchanged int          `json:"unchanged" doc:"Number of items that were like this already."`
	Missing   []httpapi.ID `json:"missing" doc:"Ids that the dataset does not have."`
}

type deleteItemsInput struct {
	Path
	Body ItemsNamed
}

type deletedItemsBody struct {
	Deleted int          `json:"deleted" doc:"Number of items that were removed."`
	Missing []httpapi.ID `json:"missing" doc:"Ids that the dataset does not have."`
}

func (s *Service) patchItems(ctx context.Context, in *updateItemsInput) (*httpapi.Body[updatedItemsBody], error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	ids := in.Body.ids()
	prepare := func() (Prepared, error) {
		return s.PrepareUpdates(ctx, principal.From(ctx).Org, id, ids, in.Body.apply)
	}
	return Retry(prepare, func(p Prepared) (*httpapi.Body[updatedItemsBody], error) {
		return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[updatedItemsBody], error) {
			updated, missing, err := s.UpdateItemsTx(ctx, tx, ids, p)
			if err != nil {
				return nil, err
			}
			return httpapi.NewBody(updatedItemsBody{Updated: updated, Unchanged: len(ids) - updated - len(missing), Missing: toIDs(missing)}), nil
		})
	})
}

func (s *Service) postDeleteItems(ctx context.Context, in *deleteItemsInput) (*httpapi.Body[deletedItemsBody], error) {
	id, err := in.dataset()
	if err != nil {
		return nil, err
	}
	return change.Do(ctx, s.log, func(tx postgres.Tx) (*httpapi.Body[deletedItemsBody], error) {
		ids := in.Body.ids()
		missing, err := s.DeleteItemsTx(ctx, tx, id, ids)
		if err != nil {
			return nil, err
		}
		return httpapi.NewBody(deletedItemsBody{Deleted: len(ids) - len(missing), Missing: toIDs(missing)}), nil
	})
}

func toIDs(ids []int64) []httpapi.ID {
	out := make([]httpapi.ID, len(ids))
	for i, id := range ids {
		out[i] = httpapi.ID(id)
	}
	return out
}
