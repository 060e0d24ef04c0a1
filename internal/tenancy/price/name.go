package price

import (
	"regexp"
	"slices"
	"strings"
)

// priceNames is what the names of a span say about who sold what.
type priceNames struct {
	models  []string // the model's names, the one that was sent first, the barest last
	hosts   []string // providers that sell models of others
	private bool     // somebody's own machine, where nothing is sold by the token
}

// priceHosts are the names under which providers of other people's models are
// known, without dots, dashes and underscores.
var priceHosts = map[string]string{
	"groq":          "groq",
	"together":      "together",
	"togetherai":    "together",
	"fireworks":     "fireworks",
	"fireworksai":   "fireworks",
	"bedrock":       "bedrock",
	"awsbedrock":    "bedrock",
	"amazonbedrock": "bedrock",
}

// dear are the hosts that set prices of their own for every model. Bedrock
// sells the models of others at their makers' prices.
var dear = []string{"groq", "together", "fireworks"}

var pricePrivate = []string{"ollama", "vllm", "llamacpp", "llamafile", "lmstudio", "localai", "sglang", "tgi", "local", "localhost", "simulated"}

// Beginnings of Bedrock's model ids: a region, then a maker.
var (
	priceRegion = regexp.MustCompile(`^(?:us|us-gov|eu|apac|au|jp|ca|sa|global)\.`)
	priceMaker  = regexp.MustCompile(`^(?:anthropic|amazon|meta|mistral|cohere|deepseek|openai)\.`)
)

// ending is what may follow the name of a model without changing its
// Price: dates, revisions, and how a router is to choose.
var ending = regexp.MustCompile(`(?:@[^@]*|:\d+k?|:(?:beta|floor|nitro|thinking)|-latest|-v\d+|-\d{4}-\d\d-\d\d|-\d\d-\d{4}|-\d\d-\d\d|-\d{8}|-\d{4}|-\d{3})$`)

// priceDot is the dot of a version, which some write as a dash.
var priceDot = regexp.MustCompile(`(\d)\.(\d)`)

func newPriceNames(provider, model string) *priceNames {
	n := &priceNames{}
	n.seller(provider)
	name := strings.ToLower(strings.TrimSpace(model))
	if strings.HasPrefix(name, "ft:") { // tuned models have prices of their own
		n.models = []string{name}
		return n
	}
	n.endings(name)
	path := strings.Split(name, "/")
	for _, part := range path[:len(path)-1] {
		n.seller(part)
	}
	name = path[len(path)-1]
	n.endings(name)
	if bare := priceRegion.ReplaceAllString(name, ""); bare != name {
		name = bare
		n.hosts = append(n.hosts, "bedrock")
		n.endings(name)
	}
	if bare := priceMaker.ReplaceAllString(name, ""); bare != name {
		n.hosts = append(n.hosts, "bedrock")
		n.endings(bare)
	}
	for _, name := range n.models {
		n.add(priceDot.ReplaceAllString(name, "$1-$2"))
	}
	return n
}

// seller notes what a provider's name, or a part of a model's path, says.
func (n *priceNames) seller(name string) {
	name = strings.NewReplacer(".", "", "-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if host, ok := priceHosts[name]; ok {
		n.hosts = append(n.hosts, host)
	}
	n.private = n.private || slices.Contains(pricePrivate, name)
}

// endings adds a name, and what is left of it as its endings are taken off.
func (n *priceNames) endings(name string) {
	for {
		n.add(name)
		bare := ending.ReplaceAllString(name, "")
		if bare == name || bare == "" {
			return
		}
		name = bare
	}
}

func (n *priceNames) add(name string) {
	if !slices.Contains(n.models, name) {
		n.models = append(n.models, name)
	}
}

// choose returns the row of a host that the span named, or that of the maker.
func (n *priceNames) choose(rows []*row) *row {
	for _, host := range n.hosts {
		for _, r := range rows {
			if r.Provider == host {
				return r
			}
		}
	}
	for _, r := range rows {
		if !r.Hosted && !slices.ContainsFunc(n.hosts, func(host string) bool { return slices.Contains(dear, host) }) {
			return r
		}
	}
	return nil
}
