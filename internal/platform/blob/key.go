package blob

import (
	"fmt"
	"regexp"
	"strings"
)

// Lengths of a key. A part, which is a file name on disk, is as long as common
// file systems take.
const (
	maxKey  = 512
	maxPart = 255
)

// keyForm leaves out empty parts, which a folder cannot tell apart.
var keyForm = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._-]*(/[a-zA-Z0-9._-]+)*$`)

// checkKey refuses a key that one of the stores would not keep, or would keep
// somewhere else.
func checkKey(key string) error {
	if len(key) > maxKey {
		return fmt.Errorf("object key has %d characters, more than %d", len(key), maxKey)
	}
	if !keyForm.MatchString(key) || strings.Contains(key, "..") {
		return fmt.Errorf("object key %q is not parts of a-z A-Z 0-9 . _ - joined by single slashes, without '..', beginning with a-z or 0-9", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if len(part) > maxPart || part == "." {
			return fmt.Errorf("object key %q has a part that is '.' or longer than %d characters", key, maxPart)
		}
	}
	return nil
}

// checkStart refuses what no key begins with.
func checkStart(name, start string) error {
	if start == "" || checkKey(start) == nil || checkKey(start+"x") == nil {
		return nil
	}
	return fmt.Errorf("%s %q is not the beginning of any object key", name, start)
}
