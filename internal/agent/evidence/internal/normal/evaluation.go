package normal

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/telemetry/span"
)

// evaluationEvent is the name of an event that tells a score.
const evaluationEvent = "gen_ai.evaluation.result"

// spanEvaluations makes explanations of the scores that a span carries.
func (n *normalizer) spanEvaluations(r *span.Record) {
	trace, id, count := r.TraceID.String(), r.ID.String(), 0
	for _, raw := range kind.Elements(r.Events) {
		event := object(raw)
		if event.Text("name") != evaluationEvent {
			continue
		}
		at := event.Time("time")
		if !storable(at) {
			at = time.UnixMicro(r.Start)
		}
		key := "otel:" + trace + ":" + id + ":evaluation:" + strconv.Itoa(count)
		count++
		if n.evaluation(event.Within("attributes"), at, trace, id, key); n.full {
			return
		}
	}
}

// evaluation makes an explanation of a score about a span, or about a trace if no span
// is named.
func (n *normalizer) evaluation(v kind.Values, at time.Time, trace, id, key string) {
	name := plain(v.Text("gen_ai.evaluation.name"))
	switch {
	case name == "":
		n.leaveOut("a result of an evaluation without gen_ai.evaluation.name is left out")
		return
	case trace == "":
		n.leaveOut("a result of an evaluation that names no trace is left out")
		return
	}
	b := n.body(kind.EvalExplanations)
	b.time(kind.FieldOccurredAt, at)
	b.key(kind.FieldIdempotencyKey, key)
	b.within(trace, id)
	if id != "" {
		b.texts(kind.FieldSubject, map[string]string{kind.FieldType: "step", kind.FieldID: id})
	} else {
		b.texts(kind.FieldSubject, map[string]string{kind.FieldType: "trace", kind.FieldID: trace})
	}
	b.text(kind.FieldEvaluationName, name)
	if f, ok := float(v["gen_ai.evaluation.score.value"]); ok {
		b.number(kind.FieldScoreValue, f)
	}
	b.text(kind.FieldScoreLabel, v.Text("gen_ai.evaluation.score.label"))
	b.text(kind.FieldExplanation, v.Text("gen_ai.evaluation.explanation"))
	if b.values[kind.FieldExplanation] == nil {
		b.text(kind.FieldExplanation, "The evaluation gives no explanation.")
		n.warn("the evaluation gives no explanation")
	}
	b.attributes(map[string]jsontext.Value{"response_id": v["gen_ai.response.id"], "error_type": v["error.type"]})
	b.report(false)
}

// float is a number, which some senders write as a text.
func float(v jsontext.Value) (float64, bool) {
	text := string(v)
	if v.Kind() == '"' {
		text = words(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}
