package secret

import (
	"bytes"
	"testing"
	"time"
)

// FuzzUnseal shows that no bytes make Unseal panic, and that it opens nothing
// but what was sealed.
func FuzzUnseal(f *testing.F) {
	k := goldenKeeper(f)
	file := golden(f)
	for _, c := range file.Cases {
		f.Add([]byte(c.DataKey), c.Sealed, c.Org, c.Destination)
		f.Add([]byte(c.DataKey[:20]), c.Sealed[:10], c.Org, c.Destination)
	}
	f.Add([]byte{1, 255}, []byte{1}, "", "https://[::1]:443")
	f.Add([]byte{1, 0, 0}, []byte{1, 1}, "org-a", "https://a:1")

	f.Fuzz(func(t *testing.T, key, ciphertext []byte, org, destination string) {
		for _, c := range file.Cases {
			_, err := k.Unseal(key, ciphertext, Binding{org, c.Credential, c.Provider, destination})
			same := bytes.Equal(key, c.DataKey) && bytes.Equal(ciphertext, c.Sealed) && org == c.Org && destination == c.Destination
			if (err == nil) != same {
				t.Fatalf("opened is %v and equal is %v for %s", err == nil, same, c.Credential)
			}
		}
		_, _, _ = k.Rewrap(key, org)
		_, _ = Destination(destination)
	})
}

// FuzzMasterKey shows that no text makes the configuration panic.
func FuzzMasterKey(f *testing.F) {
	f.Add(golden(f).MasterKey.Reveal())
	f.Add(masterPrefix + "_")
	f.Fuzz(func(t *testing.T, text string) {
		cfg := Config{MasterKey: Text(text)}
		k, err := New(cfg, time.Now)
		if (err == nil) != (cfg.Validate() == nil) || (err == nil) != (k != nil) {
			t.Fatalf("Validate and New disagree: %v", err)
		}
	})
}
