package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/core/principal"
)

const (
	// DefaultBatch is how many answers a service scores in one call, unless it
	// is declared otherwise.
	DefaultBatch = 16
	// batchBytes is from how many bytes on a call takes no more answers.
	batchBytes = 1 << 20
	// gathering is how long the first answer of a call waits for others.
	gathering = 20 * time.Millisecond
)

// ScorerConfig is which service makes the scores of a metric.
type ScorerConfig struct {
	EndpointConfig
	Metric string
	Batch  int // answers in one call; zero for the default
}

// Given is what a service says about an answer.
type Given struct {
	Value       *float64 // nil if it gives no score
	Explanation string
	// Failed is why there is nothing from the service; empty if there is.
	Failed string
}

// Scorer has a service of the team's own score answers. Answers that come at about
// the same time are scored in one call.
type Scorer struct {
	endpoint
	metric string
	most   int
	pace   *Pace
	failed func(*Failure)

	mu   sync.Mutex
	open *batch // takes more answers; nil if none does
}

// Scorer prepares to ask a service. It keeps to the pace, and failed is called
// after each attempt that is made again. An *Unusable means that it cannot be asked.
func (s *Service) Scorer(ctx context.Context, org principal.OrgID, c ScorerConfig, pace *Pace, failed func(*Failure)) (*Scorer, error) {
	e, err := s.endpoint(ctx, org, "The service that scores "+c.Metric, CodeScorerUnreachable, c.EndpointConfig)
	if err != nil {
		return nil, err
	}
	most := c.Batch
	if most == 0 {
		most = DefaultBatch
	}
	return &Scorer{endpoint: e, metric: c.Metric, most: most, pace: pace, failed: failed}, nil
}

// batch is answers that are scored in one call, made by whoever came first.
type batch struct {
	answers []jsontext.Value
	bytes   int
	full    chan struct{} // closed when it takes no more
	done    chan struct{} // closed when it is scored
	given   []Given
	err     error
}

// Score returns what the service says about an answer. An error is a *Failure after
// which nothing else can be scored either, ErrStopped, or the end of ctx.
func (s *Scorer) Score(ctx context.Context, answer jsontext.Value) (Given, error) {
	b, place := s.join(answer)
	if place == 0 {
		s.gather(ctx, b)
		b.given, b.err = s.ask(ctx, b.answers)
		close(b.done)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return Given{}, ctx.Err()
	}
	if b.err != nil {
		return Given{}, b.err
	}
	return b.given[place], nil
}

// join puts an answer into the next call.
func (s *Scorer) join(answer jsontext.Value) (*batch, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = &batch{full: make(chan struct{}), done: make(chan struct{})}
	}
	b := s.open
	b.answers = append(b.answers, answer)
	b.bytes += len(answer)
	if len(b.answers) >= s.most || b.bytes >= batchBytes {
		close(b.full)
		s.open = nil
	}
	return b, len(b.answers) - 1
}

// gather waits for others to join a call, and then lets in no more.
func (s *Scorer) gather(ctx context.Context, b *batch) {
	wait := time.NewTimer(gathering)
	defer wait.Stop()
	select {
	case <-b.full:
		return
	case <-wait.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == b {
		s.open = nil
	}
}

// ask has answers scored, again if the service fails for the moment.
func (s *Scorer) ask(ctx context.Context, answers []jsontext.Value) (given []Given, err error) {
	body, err := json.Marshal(struct {
		Metric string           `json:"metric"`
		Items  []jsontext.Value `json:"items"`
	}{s.metric, answers})
	if err != nil {
		return nil, fmt.Errorf("encode answers: %w", err)
	}
	sum := sha256.Sum256(body)
	key := "assay-scores-" + hex.EncodeToString(sum[:16])
	_, _, err = s.pace.Ask(ctx, func(ctx context.Context) (Answer, error) {
		given, err = s.call(ctx, body, key, len(answers))
		return Answer{Calls: 1}, err
	}, s.failed)
	var f *Failure
	switch {
	case err == nil:
		return given, nil
	case errors.As(err, &f) && !f.Stop && !f.Retry && len(answers) > 1:
		// One of them may be what the service does not take.
		return s.askHalves(ctx, answers)
	case errors.As(err, &f) && !f.Stop:
		return failed(len(answers), f.Message), nil
	}
	return nil, err
}

func (s *Scorer) askHalves(ctx context.Context, answers []jsontext.Value) ([]Given, error) {
	half := len(answers) / 2
	first, err := s.ask(ctx, answers[:half])
	if err != nil {
		return nil, err
	}
	second, err := s.ask(ctx, answers[half:])
	return append(first, second...), err
}

func failed(n int, why string) []Given {
	all := make([]Given, n)
	for i := range all {
		all[i].Failed = why
	}
	return all
}

// call has answers scored once.
func (s *Scorer) call(ctx context.Context, body []byte, key string, n int) ([]Given, error) {
	header := http.Header{}
	header["idempotency-key"] = []string{key} // in lower case: see Application.Ask
	status, text, err := s.post(ctx, body, header)
	if err != nil {
		return nil, err
	}
	clean, err := s.scrub.value(text)
	if err != nil {
		clean = text
	}
	given, ok := readScores(clean, n)
	if !ok {
		return nil, s.malformed(status, fmt.Sprintf(`a JSON object whose "scores" has %d entries, each a number, null, or an object with "value" and "explanation"`, n), text)
	}
	return given, nil
}

// readScores reads the scores of n answers. An entry that is not a score is a failure
// of its own.
func readScores(text []byte, n int) ([]Given, bool) {
	var sent struct {
		Scores []jsontext.Value `json:"scores"`
	}
	if json.Unmarshal(text, &sent) != nil || len(sent.Scores) != n {
		return nil, false
	}
	given := make([]Given, n)
	for i, v := range sent.Scores {
		switch v.Kind() {
		case '0':
			given[i].Value = number(v)
		case '{':
			var one struct {
				Value       *float64 `json:"value"`
				Explanation string   `json:"explanation"`
			}
			if err := json.Unmarshal(v, &one); err == nil {
				given[i] = Given{Value: one.Value, Explanation: one.Explanation}
				continue
			}
		}
		if v.Kind() != 'n' && given[i].Value == nil {
			given[i].Failed = "The service answered with " + snippet(string(v)) + " in place of a score."
		}
	}
	return given, true
}
