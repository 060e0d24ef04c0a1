package adjudication

import (
	"context"
	"net/http"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/dataset"
	"github.com/assayhq/assay/internal/httpapi"
)

func (s *Service) registerLineage(e *httpapi.Edge) {
	httpapi.Register(e, httpapi.Op{
		ID: "getDatasetItemLineage", Method: http.MethodGet, Path: "/api/datasets/{id}/items/{itemId}/lineage", Tag: tag, Scope: principal.EvalRead, Status: 200,
		Summary:     "Get the lineage of a dataset item",
		Description: "Traces an item back to the ground truth that it rests on, the decision and who made it, the positions that were in conflict, and the run or trace that the answer is from. An item that was written directly has no origins.",
	}, s.getLineage)
}

type lineageInput struct {
	ID             string `path:"id" maxLength:"32" doc:"The id of the dataset."`
	ItemID         string `path:"itemId" maxLength:"32" doc:"The id of the item."`
	DatasetVersion int    `query:"datasetVersion" minimum:"1" maximum:"2147483647" doc:"Number of a frozen version, to look up an item that has left the dataset since."`
}

// lineageBody is where an item of a dataset comes from, on the wire.
type lineageBody struct {
	DatasetID     httpapi.ID      `json:"dataset_id" doc:"The dataset."`
	DatasetItemID httpapi.ID      `json:"dataset_item_id" doc:"The item."`
	Purpose       dataset.Purpose `json:"purpose" doc:"What the dataset is used for."`
	Split         *string         `json:"split" enum:"train,dev,test" doc:"Split of the item."`
	SourceType    *string         `json:"source_type" doc:"Kind of source that the item names."`
	SourceID      *string         `json:"source_id" doc:"Id of the source that the item names."`
	ContentDigest string          `json:"content_digest" doc:"SHA-256 of the canonical JSON (RFC 8785) of the item's input and output: what was assessed."`
	Origins       []originBody    `json:"origins" doc:"Ways by which ground truth came into the item, newest first; empty if it was written directly."`
}

type originBody struct {
	Entry       entryBody       `json:"entry" doc:"How the item came into the dataset, and who added it."`
	GroundTruth truthBody       `json:"ground_truth" doc:"Ground truth that the item rests on."`
	Decision    decisionBody    `json:"decision" doc:"Decision that the ground truth rests on, and who made it."`
	ItemID      int64           `json:"adjudication_item_id" doc:"Adjudication item."`
	Source      Source          `json:"source" doc:"Why the item was opened."`
	Title       *string         `json:"title" doc:"Title of the adjudication item."`
	Candidates  []candidateBody `json:"candidates" doc:"Labels of judges and people that were in conflict."`
	Subject     subjectBody     `json:"subject" doc:"Run or trace that the answer is from."`
	OpenedBy    httpapi.Actor   `json:"opened_by" doc:"Who opened the adjudication item."`
	OpenedAt    httpapi.Time    `json:"opened_at" doc:"When it was opened."`
}

func (s *Service) getLineage(ctx context.Context, in *lineageInput) (*httpapi.Body[lineageBody], error) {
	set, ok := httpapi.ParseID(in.ID)
	if !ok {
		return nil, dataset.ErrNotFound
	}
	item, ok := httpapi.ParseID(in.ItemID)
	if !ok {
		return nil, dataset.ErrItemNotFound
	}
	org := principal.From(ctx).Org
	l, err := s.Lineage(ctx, org, set, item, in.DatasetVersion)
	if err != nil {
		return nil, err
	}
	var all []principal.Actor
	for _, o := range l.Origins {
		all = append(all, actors([]Item{o.Item})...)
		all = append(all, o.Entry.By, o.Truth.DecidedBy, o.Truth.CreatedBy)
	}
	all = distinct(all)
	shown, err := s.tenancy.Actors(ctx, org, all...)
	if err != nil {
		return nil, err
	}
	n := named(all, shown)
	b := lineageBody{
		DatasetID: httpapi.ID(set), DatasetItemID: httpapi.ID(item), Purpose: l.Dataset.Purpose, Split: httpapi.OrNull(l.Item.Split), SourceType: httpapi.OrNull(l.Item.Source.Type),
		SourceID: httpapi.OrNull(l.Item.Source.ID), ContentDigest: l.Digest.String(), Origins: []originBody{},
	}
	for _, o := range l.Origins {
		b.Origins = append(b.Origins, originBody{
			Entry: toEntry(o.Entry, n), GroundTruth: toTruth(o.Truth, n), Decision: toDecision(o.Decision, n), ItemID: o.Item.ID, Source: o.Item.Source, Title: httpapi.OrNull(o.Item.Title),
			Candidates: toCandidates(o.Item.Candidates), Subject: toSubject(o.Item.Subject), OpenedBy: n.of(o.Item.CreatedBy), OpenedAt: httpapi.Time(o.Item.CreatedAt),
		})
	}
	return httpapi.NewBody(b), nil
}
