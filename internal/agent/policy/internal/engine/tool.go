package engine

import (
	"iter"
	"strings"
)

// SplitTool is the connector and the tool in the id of a tool, which is connector/tool. Keys of
// connectors can have slashes, those that are URLs for example, so that the last slash counts.
// It is not ok if the id has no slash, or only one at its end.
//
// Facts and the actions that they count are split by it, whatever the caller says that the
// connector is: payments and a/b are the tool that payments/a and b are.
func SplitTool(id string) (connector, tool string, ok bool) {
	at := strings.LastIndexByte(id[:max(len(id)-1, 0)], '/') // a tool has a name
	if at < 0 {
		return "", "", false
	}
	return id[:at], id[at+1:], true
}

// Splits are all connectors and tools that an id can mean, the longest connector first.
func Splits(id string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for at := len(id) - 2; at >= 0; at-- {
			if id[at] == '/' && !yield(id[:at], id[at+1:]) {
				return
			}
		}
	}
}
