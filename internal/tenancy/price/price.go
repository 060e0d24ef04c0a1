// Package price knows what models cost. The table is data, prices.json; an
// organization's own prices come before it. A model that is in neither has no
// price: its cost is unknown, which is not zero.
package price

import (
	_ "embed"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// Price is what a million tokens of a model cost, in US dollars.
type Price struct{ Input, CachedInput, CacheWrite, Output float64 }

// NanoUSD is what so many tokens cost, in billionths of a US dollar. input
// counts everything that was sent, also what came from a cache and what was
// written to one. A cost that is too large to count is the largest that is.
func (p Price) NanoUSD(input, cachedInput, cacheWrite, output uint32) uint64 {
	const nano = 1e9 / 1e6 // of a token whose million costs a dollar
	plain := max(0, int64(input)-int64(cachedInput)-int64(cacheWrite))
	var sum float64
	for _, part := range [...]struct{ tokens, price float64 }{
		{float64(plain), p.Input},
		{float64(cachedInput), p.CachedInput},
		{float64(cacheWrite), p.CacheWrite},
		{float64(output), p.Output},
	} {
		if part.tokens > 0 && part.price > 0 { // not a number is neither
			sum += float64(part.tokens * part.price * nano) // rounded alike on every machine
		}
	}
	if sum = math.Round(sum); sum >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(sum)
}

//go:embed prices.json
var pricesJSON []byte

// row is one row of prices.json.
type row struct {
	Model    string `json:"model"`
	Provider string `json:"provider"`
	// Hosted prices count only for their provider: others host the same model
	// at other prices.
	Hosted      bool     `json:"hosted,omitzero"`
	Input       float64  `json:"input"`
	CachedInput *float64 `json:"cached_input,omitzero"` // nil means Input
	CacheWrite  *float64 `json:"cache_write,omitzero"`  // nil means Input
	Output      float64  `json:"output"`
	AsOf        string   `json:"as_of"`
}

func (r *row) price() Price {
	p := Price{Input: r.Input, CachedInput: r.Input, CacheWrite: r.Input, Output: r.Output}
	if r.CachedInput != nil {
		p.CachedInput = *r.CachedInput
	}
	if r.CacheWrite != nil {
		p.CacheWrite = *r.CacheWrite
	}
	return p
}

// allRows returns the rows of prices.json. The file is a part of the program
// and tests read it, so that it can be read goes without saying.
var allRows = sync.OnceValue(func() []row {
	var file struct {
		Note   string `json:"note"`
		Prices []row  `json:"prices"`
	}
	if err := json.Unmarshal(pricesJSON, &file, json.RejectUnknownMembers(true)); err != nil {
		panic("prices.json: " + err.Error())
	}
	return file.Prices
})

// priceByModel holds the rows of each model.
var priceByModel = sync.OnceValue(func() map[string][]*row {
	rows := allRows()
	byModel := make(map[string][]*row, len(rows))
	for i := range rows {
		byModel[rows[i].Model] = append(byModel[rows[i].Model], &rows[i])
	}
	return byModel
})

// Table tells what models cost. It is safe for concurrent use.
type Table struct {
	exact    map[string]Price
	prefixes []pricePrefix // the longest first
	seed     maphash.Seed
	known    [slots]atomic.Pointer[answer]
}

type pricePrefix struct {
	text string
	Price
}

// slots is how many answers a table remembers: more than an organization
// has models. Where two fall on one slot the later one stays.
const slots = 128

// priceLongest is the longest provider and model together that have a price.
const priceLongest = 256

// answer is what a table found for the names that a span carried.
type answer struct {
	provider, model string
	Price           Price
	ok              bool
}

// priceDefault is the table of everyone who overrides nothing.
var priceDefault = sync.OnceValue(func() *Table { return &Table{seed: maphash.MakeSeed()} })

// NewTable makes the table of an organization. Its overrides go before
// the built-in prices; their names are models in any case, or beginnings of
// models that end with *.
func NewTable(overrides map[string]Price) *Table {
	if len(overrides) == 0 {
		return priceDefault()
	}
	t := &Table{seed: maphash.MakeSeed(), exact: make(map[string]Price, len(overrides))}
	for name, p := range overrides {
		name = strings.ToLower(strings.TrimSpace(name))
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			t.prefixes = append(t.prefixes, pricePrefix{prefix, p})
		} else {
			t.exact[name] = p
		}
	}
	slices.SortFunc(t.prefixes, func(a, b pricePrefix) int { return len(b.text) - len(a.text) })
	return t
}

// Find returns the price of a model, by the names that a span carries. A model
// that is not known has no price, which is not the same as costing nothing.
func (t *Table) Find(provider, model []byte) (Price, bool) {
	if len(model) == 0 || len(provider)+len(model) > priceLongest {
		return Price{}, false
	}
	hash := maphash.Bytes(t.seed, model) + 31*maphash.Bytes(t.seed, provider)
	slot := &t.known[hash%slots]
	a := slot.Load()
	if a == nil || a.model != string(model) || a.provider != string(provider) {
		a = &answer{provider: string(provider), model: string(model)}
		a.Price, a.ok = t.look(a.provider, a.model)
		slot.Store(a)
	}
	return a.Price, a.ok
}

// look finds a price without the memory of earlier answers.
func (t *Table) look(provider, model string) (Price, bool) {
	n := newPriceNames(provider, model)
	for _, name := range n.models {
		if p, ok := t.exact[name]; ok {
			return p, true
		}
	}
	for _, prefix := range t.prefixes {
		for _, name := range n.models {
			if strings.HasPrefix(name, prefix.text) {
				return prefix.Price, true
			}
		}
	}
	if n.private {
		return Price{}, false
	}
	for _, name := range n.models {
		if r := n.choose(priceByModel()[name]); r != nil {
			return r.price(), true
		}
	}
	return Price{}, false
}
