package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Profile is a server with a key for it, as `assay login` stores it.
type Profile struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// The variables that a stored profile gives way to.
const (
	// EnvProfile names the profile.
	EnvProfile = "ASSAY_PROFILE"
	// EnvAssayKey is another name of EnvKey, with the prefix of EnvURL.
	EnvAssayKey = "ASSAY_API_KEY"
)

// DefaultProfile is the profile that is used unless another is named.
const DefaultProfile = "default"

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ProfileFile is the file that profiles are stored in: assay/profiles.json in
// the user's folder for configuration.
func ProfileFile(environ []string) (string, error) {
	dir := lookup(environ, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := lookup(environ, "HOME")
		if home == "" {
			return "", mistake("neither XDG_CONFIG_HOME nor HOME is set: set one of them, or %s and %s", EnvURL, EnvAssayKey)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "assay", "profiles.json"), nil
}

// ProfileName is the profile that the environment names.
func ProfileName(environ []string) string {
	if name := lookup(environ, EnvProfile); name != "" {
		return name
	}
	return DefaultProfile
}

// Profiles returns every stored profile by its name.
func Profiles(environ []string) (map[string]Profile, error) {
	file, err := ProfileFile(environ)
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Profile{}, nil
	}
	if err != nil {
		return nil, mistake("the profiles cannot be read: %v", err)
	}
	return parseProfiles(file, body)
}

func parseProfiles(file string, body []byte) (map[string]Profile, error) {
	var all map[string]Profile
	if err := json.Unmarshal(body, &all); err != nil || all == nil {
		return nil, mistake("%s cannot be read: remove it and run `assay login` again", file)
	}
	return all, nil
}

// StoreProfile stores a profile, or removes it if it is nil. Only its owner can
// read the file.
func StoreProfile(environ []string, name string, p *Profile) (string, error) {
	if !profileName.MatchString(name) {
		return "", mistake("%q is not a name of a profile: use letters, digits, dots and hyphens", plain(name))
	}
	file, err := ProfileFile(environ)
	if err != nil {
		return "", err
	}
	all, err := Profiles(environ)
	if err != nil {
		return file, err
	}
	if delete(all, name); p != nil {
		all[name] = *p
	}
	body, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return file, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return file, fmt.Errorf("store the profile: %w", err)
	}
	// Written next to it and renamed, so that nobody reads half of it, and so that
	// an older file that others can read does not keep its mode.
	f, err := os.CreateTemp(filepath.Dir(file), ".profiles-") // readable by its owner alone
	if err != nil {
		return file, fmt.Errorf("store the profile: %w", err)
	}
	_, err = f.Write(append(body, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return file, fmt.Errorf("store the profile: %w", err)
	}
	return file, nil
}
