package simulated

import (
	"maps"
	"net/http"
	"slices"
)

// models lists the models that a script knows, in the shape of whichever
// provider the headers are for. Any other name is answered too.
func (p *Provider) models(w http.ResponseWriter, r *http.Request) {
	d := dialect(chat{})
	if r.Header.Get("X-Api-Key") != "" || r.Header.Get("Anthropic-Version") != "" {
		d = messages{}
	} else if r.Header.Get("X-Goog-Api-Key") != "" {
		d = generate{}
	}
	key, bad := d.key(r.Header)
	if bad == nil && len(p.keys) > 0 && !slices.Contains(p.keys, key) {
		bad = unknownKey()
	}
	if bad != nil {
		p.refuse(w, d, bad, id(p.seed, 0, 0))
		return
	}
	names := slices.Sorted(maps.Keys(p.state.Load().script.Models))
	for _, do := range doings {
		if !slices.Contains(names, string(do)) {
			names = append(names, string(do))
		}
	}
	send(w, http.StatusOK, jsonType, mustJSON(listing(d, names)))
}

func listing(d dialect, names []string) any {
	type openai struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	type anthropic struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	if _, ok := d.(messages); ok {
		out := struct {
			Data    []anthropic `json:"data"`
			HasMore bool        `json:"has_more"`
			FirstID string      `json:"first_id"`
			LastID  string      `json:"last_id"`
		}{FirstID: names[0], LastID: names[len(names)-1]}
		for _, n := range names {
			out.Data = append(out.Data, anthropic{"model", n, n, "2000-01-01T00:00:00Z"})
		}
		return out
	}
	if _, ok := d.(generate); ok {
		all := []object{}
		for _, n := range names {
			all = append(all, object{"name": "models/" + n, "displayName": n, "supportedGenerationMethods": []string{"generateContent"}})
		}
		return object{"models": all}
	}
	out := struct {
		Object string   `json:"object"`
		Data   []openai `json:"data"`
	}{Object: "list"}
	for _, n := range names {
		out.Data = append(out.Data, openai{n, "model", 946684800, "simulated"})
	}
	return out
}
