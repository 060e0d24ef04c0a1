package evidence

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/internal/effect"
	"github.com/assayhq/assay/internal/agent/evidence/internal/normal"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/measure/metric"
	"github.com/assayhq/assay/internal/platform/postgres"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// TopicEffectDue is published for the moment until which a side effect must be verified.
const TopicEffectDue = "side_effect.due"

// EffectDue names the side effect.
type EffectDue struct {
	ID int64 `json:"id"`
}

func init() {
	hooked[kind.SideEffectLedger] = hooks{
		check: checkEffect, link: linkEffect, insert: (*things).insertEffectTx, move: (*things).moveEffectTx,
		edit: func(was kind.Values, r *Record, e edit) error {
			return effect.Move(was, r.Values, e.draft.Values[kind.FieldVerification] != nil)
		},
	}
}

func checkEffect(d kind.Draft, need func(path, code, message string)) {
	if c := d.Values.SideEffectClass(); d.Values[kind.FieldEffectKey] == nil && c != "" && c != "none" && c != "read" && !d.Partial {
		need("/effect_key", "required", "is required, because the effect is more than reading")
	}
}

// linkEffect keeps what tells effects apart, as it was sent. Other formats name effects by their spans.
func linkEffect(ctx context.Context, _ *intake, _ principal.OrgID, r *linked) error {
	if effect.Look(ctx, nil, r.draft.Values) != nil {
		r.refuse("/verification/method", "not_a_person", "only a person can report a check by a person: use a personal key that its owner made after signing in")
	}
	if r.format == normal.FormatNative {
		r.sent = maps.Clone(r.draft.Values)
	}
	return nil
}

// effectsTx completes the side effects among reports that are about to be stored as new
// records. An id may have been claimed for one that is not there yet.
func (s *things) effectsTx(ctx context.Context, tx postgres.Tx, reports []*report, claims map[key]claim) error {
	seen := map[int64]bool{}
	var all []*Record
	for _, r := range reports {
		c := claims[r.Key]
		if r.draft.Kind.Name != kind.SideEffectLedger || seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		if !c.Fresh {
			_, err := s.store.Find(ctx, tx, tx.Org, r.draft.Kind, c.ID)
			if err == nil {
				continue
			}
			if !fault.IsNotFound(err) {
				return err
			}
		}
		all = append(all, &Record{Kind: r.draft.Kind, ID: c.ID, Links: r.links, Values: r.draft.Values})
	}
	if len(all) == 0 {
		return nil
	}
	return s.store.ledger().CompleteTx(ctx, tx, all, s.now(), s.expiry())
}

// insertEffectTx notes the state of a side effect that effectsTx has completed, before it is
// stored, and has it looked at when it should have been verified.
func (s *things) insertEffectTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if err := s.watchEffectTx(ctx, tx, r); err != nil {
		return err
	}
	return effect.Pass(r.Values, s.now(), principal.ActorOf(ctx))
}

// moveEffectTx notes how the state of a side effect changes, before it is stored, and has one
// that is dispatched by it looked at when it should have been verified.
func (s *things) moveEffectTx(ctx context.Context, tx postgres.Tx, before, after *Record, _ edit) error {
	if err := effect.Look(ctx, before.Values, after.Values); err != nil {
		return err
	}
	if err := s.store.ledger().UndoTx(ctx, tx, before, after); err != nil {
		return err
	}
	if err := s.store.ledger().ReviveTx(ctx, tx, before, after, s.expiry()); err != nil {
		return err
	}
	if before.State() != after.State() {
		if err := effect.Pass(after.Values, s.now(), principal.ActorOf(ctx)); err != nil {
			return err
		}
		if until := after.Values.VerifyBy(); effect.Unsettled(before.Values) && !until.IsZero() && s.now().After(until) {
			after.Values[kind.FieldOverdue] = jsontext.Value("true") // the message may come later
		}
	}
	if !effect.Dispatched(after.Values) || effect.Dispatched(before.Values) {
		return nil
	}
	if err := s.store.ledger().CompleteTx(ctx, tx, []*Record{after}, s.now(), s.expiry()); err != nil {
		return err
	}
	return s.watchEffectTx(ctx, tx, after)
}

// watchEffectTx has a side effect that is dispatched looked at when it should have been
// verified.
func (s *things) watchEffectTx(ctx context.Context, tx postgres.Tx, r *Record) error {
	if !effect.Dispatched(r.Values) || r.Values[kind.FieldVerifyBy] == nil {
		return nil
	}
	wait := max(0, r.Values.VerifyBy().Sub(s.now()))
	return s.log.PublishLaterTx(ctx, tx, wait, TopicEffectDue, strconv.FormatInt(r.ID, 10), EffectDue{r.ID})
}

// Caused says what traces did to the world. A trace that did nothing is not in the map.
func (s *Service) Caused(ctx context.Context, org principal.OrgID, traces []span.TraceID) (map[span.TraceID]metric.Effects, error) {
	return s.store.ledger().Count(ctx, org, traces)
}

// effectDue looks at a side effect when it should have been verified.
func (s *Service) effectDue(ctx context.Context, m change.Message) error {
	var in EffectDue
	if err := json.Unmarshal(m.Payload, &in); err != nil {
		return fmt.Errorf("read side effect: %w", err)
	}
	return s.overdue(ctx, m.Org, in.ID)
}

// overdue marks a side effect that was not verified in time, which opens a failure.
func (s *Service) overdue(ctx context.Context, org principal.OrgID, id int64) error {
	return postgres.InTx(ctx, s.db, org, func(tx postgres.Tx) error {
		r, err := s.LockTx(ctx, tx, kind.SideEffectLedger, id)
		if fault.IsNotFound(err) {
			return nil
		}
		if err != nil || !effect.Unsettled(r.Values) || r.Values.VerifyBy().After(s.now()) || r.Values[kind.FieldOverdue] != nil {
			return err
		}
		_, err = s.MoveTx(ctx, tx, r, kind.Values{kind.FieldOverdue: jsontext.Value("true")})
		return err
	})
}
