package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	mit = `The MIT License (MIT)

Permission is hereby granted, free of charge, to any person obtaining a copy of
this software and associated documentation files. The above copyright notice and
this permission notice shall be included in all copies.`

	gpl = `                    GNU GENERAL PUBLIC LICENSE
                       Version 3, 29 June 2007

 Everyone is permitted to copy and distribute verbatim copies of this license.`
)

func fake(t *testing.T, path, file, text string) module {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "code.go"), []byte("package code\n"), 0o600))
	if file != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	return module{Path: path, Version: "v1.0.0", Dir: dir}
}

func TestCheck(t *testing.T) {
	t.Parallel()

	t.Run("allowed licences are counted", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		err := check(&out, []module{
			fake(t, "example.com/a", "LICENSE", mit),
			fake(t, "example.com/b", "LICENCE.md", mit),
			fake(t, "example.com/c", "COPYING", "CC0 1.0 Universal"),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, "   2  MIT\n   1  CC0-1.0\n   3  modules\n", out.String())
	})

	t.Run("an exception excuses a missing file of one version, and nothing else", func(t *testing.T) {
		t.Parallel()
		exceptions := map[string]string{"example.com/x@v1.0.0": "none, for a reason"}
		var out bytes.Buffer
		bare := fake(t, "example.com/x", "", "")
		require.NoError(t, check(&out, []module{bare}, exceptions))
		require.Equal(t, "   1  none, for a reason\n   1  modules\n", out.String())

		bare.Version = "v1.1.0"
		require.ErrorContains(t, check(&out, []module{bare}, exceptions), "there is no licence file")
		require.ErrorContains(t, check(&out, []module{fake(t, "example.com/x", "LICENSE", gpl)}, exceptions), "GPL is forbidden")
	})

	refused := map[string]struct{ file, text, says string }{
		"a forbidden licence":                     {"LICENSE", gpl, "example.com/x v1.0.0: the licence GPL is forbidden"},
		"a forbidden licence beside another":      {"LICENSE", mit + "\n\n" + gpl, "the licence GPL is forbidden"},
		"an unknown licence":                      {"LICENSE.txt", "Ask me first.", "example.com/x v1.0.0: the licence is not known"},
		"a module without a licence":              {"", "", "example.com/x v1.0.0: there is no licence file"},
		"code that is called like a licence file": {"license.go", "package x // " + mit, "there is no licence file"},
	}
	for name, c := range refused {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := check(&out, []module{fake(t, "example.com/good", "LICENSE", mit), fake(t, "example.com/x", c.file, c.text)}, nil)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "example.com/good")
		})
	}
}

func TestRecognise(t *testing.T) {
	t.Parallel()
	bsd := "Redistribution and use in source and binary forms, with or without modification, are permitted. "
	cases := map[string]struct {
		text string
		want []string
	}{
		"BSD with two clauses":   {bsd, []string{"BSD-2-Clause"}},
		"BSD with three clauses": {bsd + "Neither the name may be used to endorse or promote products derived from it.", []string{"BSD-3-Clause"}},
		"BSD with four clauses":  {bsd + "All advertising materials must say so.", []string{"BSD-4-Clause"}},
		"Apache":                 {"Apache License\n   Version 2.0, January 2004\n", []string{"Apache-2.0"}},
		"ISC":                    {"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above", []string{"ISC"}},
		"MPL mentions the GPL":   {"Mozilla Public License Version 2.0 Covered Software. “Secondary License” means either the GNU General Public License, Version 2.0, the GNU Lesser General Public License, Version 2.1", []string{"MPL-2.0"}},
		"AGPL":                   {"GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", []string{"AGPL"}},
		"LGPL":                   {"GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3", []string{"LGPL"}},
		"SSPL":                   {"Server Side Public License", []string{"SSPL"}},
		"BUSL":                   {"Business Source License 1.1", []string{"BUSL"}},
		"two authors":            {mit + bsd, []string{"MIT", "BSD-2-Clause"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, recognise(c.text))
		})
	}
}

func TestLinked(t *testing.T) {
	t.Parallel()
	modules, err := linked([]string{"github.com/stretchr/testify/require"})
	require.NoError(t, err)
	require.NotEmpty(t, modules)
	for _, m := range modules {
		require.NotEmpty(t, m.Dir, m.Path)
		require.NotEqual(t, "github.com/assayhq/assay", m.Path)
	}
	require.NoError(t, check(&bytes.Buffer{}, modules, nil))
}
