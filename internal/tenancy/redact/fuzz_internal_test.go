package redact

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzRedact shows that no text makes the Redactor panic, that nothing which it
// would find is left in what it returns, that a second time changes nothing,
// and that a JSON document stays one.
func FuzzRedact(f *testing.F) {
	for _, hit := range hits() {
		f.Add([]byte(hit.secret))
		f.Add([]byte("a " + hit.secret + hit.secret + "-" + hit.secret))
		doc, _ := json.Marshal(map[string]any{"a": hit.secret, "secret": []string{hit.secret}, "password": 1})
		f.Add(doc)
		doc, _ = json.Marshal([]string{string(doc)})
		f.Add(doc)
	}
	for _, text := range redactClean() {
		f.Add([]byte(text))
	}
	// Once the key is gone the string is a document.
	f.Add([]byte(`["{\"secret\":[\"-----BEGIN PRIVATE KEY-----\000000000000000000000000\"]}"]`))
	f.Add([]byte("Bearer " + redactDrawn(700, base64URL, 40) + " 4111 1111 1111 1111 5555 5555 5555 4444 EMP-123456 4111"))

	plain, err := New(nil)
	if err != nil {
		f.Fatal(err)
	}
	ruled, err := New(append([]Rule{{Name: "x", Pattern: "zz+"}, {Name: "key", Key: "patient"}}, agentRules...))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		before := bytes.Clone(v)
		for name, r := range map[string]*Redactor{"plain": plain, "ruled": ruled} {
			out, changed := r.Text(nil, v)
			if changed == bytes.Equal(out, v) {
				t.Fatalf("%s: changed is %v: %q", name, changed, out)
			}
			if s, found := r.texts.next(out, 0, false); found {
				t.Fatalf("%s: %q of %s is left in %q", name, out[s.from:s.to], s.mark, out)
			}
			if again, changed := r.Text(nil, out); changed {
				t.Fatalf("%s: %q became %q", name, out, again)
			}

			doc, changed := r.JSONText(nil, v)
			if !changed && !bytes.Equal(doc, v) {
				t.Fatalf("%s: unchanged, but %q", name, doc)
			}
			if json.Valid(v) && !json.Valid(doc) {
				t.Fatalf("%s: no longer JSON: %q", name, doc)
			}
			if again, changed := r.JSONText(nil, doc); changed {
				t.Fatalf("%s: document %q became %q", name, doc, again)
			}
			_ = r.Key(v)
			if !bytes.Equal(v, before) {
				t.Fatalf("%s: the text was written over", name)
			}
		}
	})
}
