package main

import (
	"slices"
	"strings"
)

// phrases tell one licence from every other: a text is that licence if it has
// all of the phrases and none of the others.
var phrases = []struct {
	name string
	all  []string
	none []string
}{
	{name: "MIT", all: []string{"permission is hereby granted, free of charge, to any person obtaining a copy of", "the above copyright notice and this permission notice"}},
	{name: "MIT-0", all: []string{"permission is hereby granted, free of charge, to any person obtaining a copy of"}, none: []string{"the above copyright notice and this permission notice"}},
	{name: "BSD-3-Clause", all: []string{"redistribution and use in source and binary forms", "endorse or promote products derived from"}, none: []string{"all advertising materials"}},
	{name: "BSD-2-Clause", all: []string{"redistribution and use in source and binary forms"}, none: []string{"endorse or promote products derived from", "all advertising materials"}},
	{name: "Apache-2.0", all: []string{"apache license", "version 2.0", "licensed under the apache license"}},
	{name: "Apache-2.0", all: []string{"apache license version 2.0, january 2004"}, none: []string{"licensed under the apache license"}},
	{name: "ISC", all: []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee is hereby granted, provided that"}},
	{name: "0BSD", all: []string{"distribute this software for any purpose with or without fee is hereby granted."}},
	{name: "MPL-2.0", all: []string{"mozilla public license", "version 2.0", "covered software"}},
	{name: "Zlib", all: []string{"altered source versions must be plainly marked as such"}},
	{name: "Unlicense", all: []string{"this is free and unencumbered software released into the public domain"}},
	{name: "CC0-1.0", all: []string{"cc0 1.0 universal"}},

	{name: "GPL", all: []string{"gnu general public license version"}},
	{name: "GPL", all: []string{"under the terms of the gnu general public license"}},
	{name: "AGPL", all: []string{"gnu affero general public license version"}},
	{name: "AGPL", all: []string{"under the terms of the gnu affero general public license"}},
	{name: "LGPL", all: []string{"gnu lesser general public license version"}},
	{name: "LGPL", all: []string{"gnu library general public license version"}},
	{name: "LGPL", all: []string{"under the terms of the gnu lesser general public license"}},
	{name: "SSPL", all: []string{"server side public license"}},
	{name: "BUSL", all: []string{"business source license"}},
	{name: "Elastic", all: []string{"elastic license"}},
	{name: "Commons Clause", all: []string{"commons clause"}},
	{name: "BSD-4-Clause", all: []string{"redistribution and use in source and binary forms", "all advertising materials"}},
}

// forbidden licences bind the whole binary, or restrict what its users may do.
var forbidden = []string{"GPL", "AGPL", "LGPL", "SSPL", "BUSL", "Elastic", "Commons Clause", "BSD-4-Clause"}

// recognise returns the licences that a text contains; one file often holds
// those of several authors.
func recognise(text string) []string {
	words := strings.Fields(strings.ToLower(text))
	// Some licences are written as a comment.
	words = slices.DeleteFunc(words, func(w string) bool { return w == "//" || w == "#" || w == "*" })
	text = strings.Join(words, " ")
	var found []string
	for _, p := range phrases {
		if hasAll(text, p.all) && !hasAny(text, p.none) {
			found = append(found, p.name)
		}
	}
	return found
}

func hasAll(text string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

func hasAny(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
