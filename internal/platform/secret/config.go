package secret

import (
	"errors"
	"fmt"
	"strings"
)

// howToMake ends every complaint about a master key, since the remedy is the same.
const howToMake = "make one with `assay admin new-master-key`"

// Config holds the keys that wrap the organizations' data keys.
//
// Rotation without downtime takes four steps, each of them a rolling restart or
// a job: add the next key to OtherMasterKeys, so that every replica can open
// what it wraps; exchange the two; rewrap every data key; remove the old key.
type Config struct {
	MasterKey       Text `setting:"master_key" help:"Key that encrypts the organizations' data keys. Generate one with assay admin new-master-key and keep a copy: without it, stored provider keys are lost."`
	OtherMasterKeys Text `setting:"other_master_keys" help:"Comma-separated master keys used only for decryption: the next or the previous key during a rotation of master_key."`
}

// Enabled reports whether there is a master key. Without one nothing can be
// sealed, which a deployment that keeps no provider keys does not need.
func (c Config) Enabled() bool { return c.MasterKey != "" || c.OtherMasterKeys != "" }

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	if !c.Enabled() {
		return nil
	}
	_, err := c.masters()
	return err
}

// masters returns the keys, the one that wraps first. There is no default: a
// key that ships with the product protects nothing.
func (c Config) masters() ([]master, error) {
	if strings.TrimSpace(c.MasterKey.Reveal()) == "" {
		return nil, errors.New("master_key is empty: " + howToMake)
	}
	var (
		out  []master
		errs []error
	)
	add := func(name string, text Text) {
		m, err := parseMaster(text)
		if err == nil && publishedMasters[m.id] {
			err = errors.New("is published: everybody can read it")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %w; %s", name, err, howToMake))
			return
		}
		out = append(out, m)
	}
	add("master_key", c.MasterKey)
	for part := range strings.SplitSeq(c.OtherMasterKeys.Reveal(), ",") {
		if strings.TrimSpace(part) != "" {
			add("other_master_keys", Text(part))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}
