package secret

import (
	"encoding/binary"
	"fmt"
)

// Binding is what a sealed secret belongs to. A secret opens under the binding
// that it was sealed with and no other, so that a row that is copied to another
// organization or pointed at another host holds nothing of use.
type Binding struct {
	Org         string
	Credential  string // id of the row that holds the secret
	Provider    string
	Destination string // scheme://host:port as Destination writes it
}

// check refuses a binding that binds to less than everything.
func (b Binding) check() error {
	for _, f := range []struct{ name, value string }{
		{"organization", b.Org},
		{"credential", b.Credential},
		{"provider", b.Provider},
	} {
		if f.value == "" {
			return fmt.Errorf("%w: it has no %s", ErrBinding, f.name)
		}
	}
	canonical, err := Destination(b.Destination)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBinding, err)
	}
	if canonical != b.Destination {
		return fmt.Errorf("%w: its destination is not of the form scheme://host:port", ErrBinding)
	}
	return nil
}

// sealedUnder is the associated data of a sealed secret in format 1. It is part
// of the format: changing it makes every stored secret unreadable.
func sealedUnder(b Binding) []byte {
	return joined("pk1", b.Org, b.Credential, b.Provider, b.Destination)
}

// wrappedUnder is the associated data of a wrapped data key in format 1.
func wrappedUnder(masterID, org string) []byte {
	return joined("dk1", masterID, org)
}

// joined writes each part behind its length, so that different parts never
// make the same bytes: "a","bc" is not "ab","c".
func joined(parts ...string) []byte {
	var out []byte
	for _, p := range parts {
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}
