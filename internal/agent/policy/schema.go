package policy

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/agent/evidence"
	"github.com/assayhq/assay/internal/agent/evidence/kind"
	"github.com/assayhq/assay/internal/agent/policy/internal/engine"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/admission"
)

const (
	// maxKnown is how many connectors, tools and runtimes an editor is given, each.
	maxKnown = 1000
	// knownPage is how many records are read at once, and knownBytes how much that usually is.
	knownPage  = 200
	knownBytes = 1 << 20
)

// Known is what an organization has that policies can name, newest first.
type Known struct {
	Connectors []KnownConnector
	Runtimes   []string
	Truncated  bool // there are others
}

// KnownConnector is a connector with its tools.
type KnownConnector struct {
	Key, State, Trust string
	// Whole says that the connector says which tools it has, and that these are all.
	Whole bool
	Tools []KnownTool
}

// KnownTool is a tool, with what policies see of it.
type KnownTool struct{ Name, Class, Reversibility string }

// Known finds out what policies can name, up to its limits.
func (s *Service) Known(ctx context.Context, org principal.OrgID) (out Known, err error) {
	tools := 0
	more, err := s.things(ctx, org, evidence.ListOf(kind.Connectors), func(r *evidence.Record) bool {
		c := connectorOf(r)
		if rest := maxKnown - tools; len(c.Tools) > rest {
			c.Tools, c.Whole, out.Truncated = c.Tools[:rest], false, true
		}
		tools += len(c.Tools)
		out.Connectors = append(out.Connectors, c)
		return tools < maxKnown && len(out.Connectors) < maxKnown
	})
	if err != nil {
		return Known{}, err
	}
	out.Truncated = out.Truncated || more
	more, err = s.things(ctx, org, evidence.ListOf(kind.Runtimes), func(r *evidence.Record) bool {
		out.Runtimes = append(out.Runtimes, r.Values.RuntimeKey())
		return len(out.Runtimes) < maxKnown
	})
	out.Truncated = out.Truncated || more
	return out, err
}

// things reads runtimes or connectors, newest first, until one is enough. It reports whether
// others follow.
func (s *Service) things(ctx context.Context, org principal.OrgID, l evidence.List, each func(*evidence.Record) bool) (more bool, err error) {
	l.Limit = knownPage
	for more = true; more; {
		var page []evidence.Record
		err := admission.From(ctx).Read(ctx, knownBytes, func() (size int, err error) {
			page, more, _, err = s.evidence.List(ctx, org, l)
			for i := range page {
				size += len(page[i].Values[kind.FieldTools])
			}
			return size, err
		})
		if err != nil {
			return false, err
		}
		for i := range page {
			l.Below = page[i].ID
			if !each(&page[i]) {
				return more || i+1 < len(page), nil
			}
		}
	}
	return false, nil
}

// connectorOf is a connector as policies see it.
func connectorOf(r *evidence.Record) KnownConnector {
	v := r.Values
	all := v.Tools()
	c := KnownConnector{
		Key: v.ConnectorKey(), State: v.State(), Trust: v.TrustLevel(), Tools: make([]KnownTool, len(all)),
		// What was read page by page may lack a page, and what nobody has reviewed may be wrong.
		Whole: len(all) > 0 && !evidence.Paged(v) && (v.State() == "approved" || evidence.Believed(v)),
	}
	for i, t := range all {
		tools := jsontext.Value("[" + string(t.JSON()) + "]")
		alone := evidence.Parties{Connector: evidence.Record{Values: kind.Values{kind.FieldTrustLevel: v[kind.FieldTrustLevel], kind.FieldTools: tools}}}
		c.Tools[i].Name = t.Name()
		c.Tools[i].Class, c.Tools[i].Reversibility = alone.Tool(c.Tools[i].Name)
	}
	return c
}

// add adds connectors and runtimes to names.
func (k *Known) add(names *engine.Names) {
	for _, c := range k.Connectors {
		var tools []string
		for _, t := range c.Tools {
			if c.Whole {
				tools = append(tools, t.Name)
			}
		}
		names.Tools[c.Key] = tools
	}
	for _, key := range k.Runtimes {
		names.Runtimes[key] = true
	}
}

// names finds out which of the names that a policy mentions the organization has, and others that
// may have been meant.
func (s *Service) names(ctx context.Context, org principal.OrgID, m engine.Mentions) (*engine.Names, error) {
	names := &engine.Names{Tools: map[string][]string{}, Runtimes: map[string]bool{}}
	if len(m.Connectors)+len(m.Runtimes) == 0 && !m.Tool {
		return names, nil
	}
	known, err := s.Known(ctx, org)
	if err != nil {
		return nil, err
	}
	known.add(names)
	if !known.Truncated {
		return names, nil
	}
	names.Partial = true
	var rest Known
	if len(m.Connectors) > 0 {
		l := evidence.ListOf(kind.Connectors)
		l.Restrict("connectorKey", m.Connectors)
		_, err = s.things(ctx, org, l, func(r *evidence.Record) bool {
			rest.Connectors = append(rest.Connectors, connectorOf(r))
			return true
		})
	}
	if err == nil && len(m.Runtimes) > 0 {
		l := evidence.ListOf(kind.Runtimes)
		l.Restrict("runtimeKey", m.Runtimes)
		_, err = s.things(ctx, org, l, func(r *evidence.Record) bool {
			rest.Runtimes = append(rest.Runtimes, r.Values.RuntimeKey())
			return true
		})
	}
	rest.add(names)
	return names, err
}

// ids are the tools of all connectors as policies name them; none if some are not known.
func (k *Known) ids() (tools, runtimes []string) {
	if k.Truncated {
		return nil, nil
	}
	for _, c := range k.Connectors {
		if !c.Whole {
			return nil, k.Runtimes
		}
		for _, t := range c.Tools {
			tools = append(tools, c.Key+"/"+t.Name)
		}
	}
	return tools, k.Runtimes
}
