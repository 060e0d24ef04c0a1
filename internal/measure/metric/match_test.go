package metric_test

import (
	"testing"

	"github.com/assayhq/assay/internal/measure/metric"
)

func TestExactMatch(t *testing.T) {
	t.Parallel()
	runTrials(t, "exact_match", map[string]trial{
		"the same text":                                {output: `"Paris"`, expected: `"Paris"`, want: 1},
		"another text":                                 {output: `"Paris"`, expected: `"Rome"`, says: `"Paris" where "Rome" is expected`},
		"another text, far in":                         {output: `"The capital of France is Paris."`, expected: `"The capital of France is Rome."`, says: `"…apital of France is Paris."`},
		"texts that part inside a character":           {output: `"aaaaaaaaaaaaaaaaaaaaé"`, expected: `"aaaaaaaaaaaaaaaaaaaaè"`, says: "is expected"},
		"spaces at the ends do not count":              {output: `" Paris\n"`, expected: `"Paris"`, want: 1},
		"spaces inside count":                          {output: `"New  York"`, expected: `"New York"`},
		"spaces inside, collapsed":                     {params: `{"whitespace":"collapse"}`, output: `" New \n York"`, expected: `"New York"`, want: 1},
		"spaces at the ends, exactly":                  {params: `{"whitespace":"exact"}`, output: `"Paris "`, expected: `"Paris"`},
		"letters count":                                {output: `"paris"`, expected: `"Paris"`},
		"letters in any case":                          {params: `{"case":"insensitive"}`, output: `"STRASSE"`, expected: `"straße"`, want: 1},
		"an accent composed and decomposed":            {output: `"caf\u00e9"`, expected: `"cafe\u0301"`, want: 1},
		"a compatible character is another":            {output: `"\ufb01n"`, expected: `"fin"`},
		"an empty text that is expected":               {output: `""`, expected: `""`, want: 1},
		"null is an empty answer":                      {output: `null`, expected: `"Paris"`},
		"objects in any order of members":              {output: `{"b":1,"a":[true,null]}`, expected: `{"a":[true,null],"b":1.0}`, want: 1},
		"objects that differ":                          {output: `{"a":1}`, expected: `{"a":2}`, says: "another JSON value"},
		"lists in another order":                       {output: `[1,2]`, expected: `[2,1]`},
		"numbers however written":                      {output: `100`, expected: `1e2`, want: 1},
		"numbers that a float64 cannot tell apart":     {output: `9007199254740993`, expected: `9007199254740992`},
		"JSON in a text and JSON":                      {output: `"{\"a\": 1.0}"`, expected: `{"a":1}`, want: 1},
		"a number in a text":                           {output: `"42"`, expected: `42`, want: 1},
		"a text that is not JSON and an object":        {output: `"none"`, expected: `{"a":1}`},
		"the content of a chat message":                {output: `{"role":"assistant","content":"Paris"}`, expected: `"Paris"`, want: 1},
		"a part of the output":                         {params: `{"path":"/answer/0"}`, output: `{"answer":["Paris"],"sure":true}`, expected: `"Paris"`, want: 1},
		"a part of an output that is JSON in a text":   {params: `{"path":"/a~1b"}`, output: `"{\"a/b\":\"Paris\"}"`, expected: `"Paris"`, want: 1},
		"a part that the output lacks":                 {params: `{"path":"/answer"}`, output: `{}`, expected: `"Paris"`, says: "has no /answer"},
		"a part of a text that is not JSON":            {params: `{"path":"/answer"}`, output: `"Paris"`, expected: `"Paris"`, says: "not JSON"},
		"a part of the expected output":                {params: `{"expected_path":"/answer"}`, output: `"Paris"`, expected: `{"answer":"Paris","why":"…"}`, want: 1},
		"a part that the expected output lacks":        {params: `{"expected_path":"/answer"}`, output: `"Paris"`, expected: `"Paris"`, reason: metric.ReasonBadExpectation},
		"an expectation in the parameters":             {params: `{"expected":"ok"}`, output: `"ok"`, want: 1},
		"null is expected in the parameters":           {params: `{"expected":null}`, output: `null`, want: 1},
		"the item's assertion goes before all":         {params: `{"expected":"ok"}`, output: `"yes"`, expected: `"no"`, assertions: []string{`{"type":"exact_match","expected":"yes"}`}, want: 1},
		"the item's expectation is no part":            {params: `{"expected_path":"/a"}`, output: `"yes"`, assertions: []string{`{"type":"exact_match","expected":"yes"}`}, want: 1},
		"the item changes one parameter of two":        {params: `{"expected":"ok","case":"insensitive"}`, output: `"YES"`, assertions: []string{`{"type":"exact_match","expected":"yes"}`}, want: 1},
		"all of several assertions have to hold":       {output: `"yes"`, assertions: []string{`{"type":"exact_match","expected":"yes"}`, `{"type":"exact_match","expected":"Yes"}`}},
		"one fails and another cannot be used":         {output: `"yes"`, assertions: []string{`{"type":"exact_match","expects":"yes"}`, `{"type":"exact_match","expected":"Yes"}`}},
		"an assertion that cannot be used":             {output: `"yes"`, expected: `"yes"`, assertions: []string{`{"type":"exact_match","expects":"yes"}`}, reason: metric.ReasonBadAssertion, says: "expects is not a parameter"},
		"one holds and another cannot be used":         {output: `"yes"`, assertions: []string{`{"type":"exact_match","expected":"yes"}`, `{"type":"exact_match","expects":"yes"}`}, reason: metric.ReasonBadAssertion},
		"names of parameters in camelCase":             {output: `"Paris"`, expected: `{"a":"Paris"}`, assertions: []string{`{"type":"exact_match","expectedPath":"/a"}`}, want: 1},
		"assertions of other types are others' matter": {output: `"yes"`, expected: `"yes"`, assertions: []string{`{"type":"contains","values":["no"]}`, `"be polite"`}, want: 1},
		"notes on an assertion":                        {output: `"yes"`, assertions: []string{`{"type":"exact_match","expected":"yes","id":7,"description":"says yes"}`}, want: 1},
		"no output":                                    {expected: `"Paris"`, reason: metric.ReasonNoOutput},
		"no expected output":                           {output: `"Paris"`, reason: metric.ReasonNoExpectation},
		"null is no expectation":                       {output: `"Paris"`, expected: `null`, reason: metric.ReasonNoExpectation},
		"an output that is not JSON":                   {output: `Paris`, expected: `"Paris"`, reason: metric.ReasonBadValue},
	})
}

func TestContains(t *testing.T) {
	t.Parallel()
	runTrials(t, "contains", map[string]trial{
		"the expected text":                {output: `"It is Paris."`, expected: `"Paris"`, want: 1},
		"not the expected text":            {output: `"It is Rome."`, expected: `"Paris"`, says: `does not contain "Paris"`},
		"all of a list":                    {output: `"Rome and Paris"`, expected: `["Paris","Rome"]`, want: 1},
		"not all of a list":                {output: `"Rome"`, expected: `["Paris","Rome"]`, says: `"Paris"`},
		"any of a list":                    {params: `{"mode":"any"}`, output: `"Rome"`, expected: `["Paris","Rome"]`, want: 1},
		"none where any should be":         {params: `{"mode":"any"}`, output: `"Oslo"`, expected: `["Paris","Rome"]`, says: "none of"},
		"none of a list":                   {params: `{"mode":"none","values":["sorry","cannot"]}`, output: `"Rome"`, want: 1},
		"one where none should be":         {params: `{"mode":"none","values":["sorry","cannot"]}`, output: `"I cannot say"`, says: `contains "cannot"`},
		"one value":                        {params: `{"values":"Rome"}`, output: `"Rome"`, want: 1},
		"many values that are missing":     {params: `{"values":["a","b","c","d","e"]}`, output: `"x"`, says: "and 2 more"},
		"letters count":                    {params: `{"values":["rome"]}`, output: `"Rome"`},
		"letters in any case":              {params: `{"values":["ROME"],"case":"insensitive"}`, output: `"Rome"`, want: 1},
		"a line break counts":              {params: `{"values":["New York"]}`, output: `"New\nYork"`},
		"a line break, collapsed":          {params: `{"values":["New York"],"whitespace":"collapse"}`, output: `"New\nYork"`, want: 1},
		"inside canonical JSON":            {params: `{"values":["\"a\":1"]}`, output: `{"b":2, "a": 1}`, want: 1},
		"the item's assertion":             {params: `{"values":["x"],"mode":"any"}`, output: `"y"`, assertions: []string{`{"type":"contains","values":["x","y"]}`}, want: 1},
		"every text contains the empty":    {output: `"Rome"`, expected: `""`, reason: metric.ReasonBadExpectation},
		"a list without texts":             {output: `"Rome"`, expected: `[]`, reason: metric.ReasonBadExpectation},
		"nothing to look for":              {output: `"Rome"`, reason: metric.ReasonNoExpectation},
		"no output":                        {params: `{"values":["x"]}`, reason: metric.ReasonNoOutput},
		"an empty text in the item's list": {output: `"x"`, assertions: []string{`{"type":"contains","values":[""]}`}, reason: metric.ReasonBadAssertion},
	})
}

func TestRegexMatch(t *testing.T) {
	t.Parallel()
	runTrials(t, "regex_match", map[string]trial{
		"anywhere":                             {params: `{"pattern":"[0-9]{3}"}`, output: `"no 123!"`, want: 1},
		"nowhere":                              {params: `{"pattern":"[0-9]{3}"}`, output: `"no 12!"`, says: "does not match"},
		"the whole text":                       {params: `{"pattern":"a|ab","mode":"full"}`, output: `"ab"`, want: 1},
		"not the whole text":                   {params: `{"pattern":"[0-9]{3}","mode":"full"}`, output: `"1234"`},
		"letters in any case":                  {params: `{"pattern":"paris","case":"insensitive"}`, output: `"PARIS"`, want: 1},
		"a part":                               {params: `{"pattern":"^INV-[0-9]+$","path":"/id"}`, output: `{"id":"INV-7"}`, want: 1},
		"the item's pattern":                   {params: `{"pattern":"a"}`, output: `"b"`, assertions: []string{`{"type":"regex_match","pattern":"b"}`}, want: 1},
		"the item's pattern alone":             {output: `"b"`, assertions: []string{`{"type":"regex_match","pattern":"b"}`}, want: 1},
		"a pattern of the item that is none":   {output: `"b"`, assertions: []string{`{"type":"regex_match","pattern":"("}`}, reason: metric.ReasonBadAssertion, says: "RE2"},
		"the item's pattern looks ahead":       {output: `"b"`, assertions: []string{`{"type":"regex_match","pattern":"(?=b)"}`}, reason: metric.ReasonBadAssertion},
		"a pattern of the item that grows":     {output: `"b"`, assertions: []string{`{"type":"regex_match","pattern":"(?:(?:a{100}b){10}c{900}){9}{9}"}`}, reason: metric.ReasonBadAssertion},
		"the expected output is not a pattern": {output: `"b"`, expected: `"b"`, reason: metric.ReasonNotConfigured},
		"no output":                            {params: `{"pattern":"a"}`, reason: metric.ReasonNoOutput},
	})
}

func TestNumericTolerance(t *testing.T) {
	t.Parallel()
	runTrials(t, "numeric_tolerance", map[string]trial{
		"the same number":                         {output: `42`, expected: `42.0`, want: 1},
		"the noise of rounding":                   {output: `0.30000000000000004`, expected: `0.3`, want: 1},
		"another number":                          {output: `43`, expected: `42`, says: "43 is not within"},
		"within an absolute tolerance":            {params: `{"absolute":1}`, output: `43`, expected: `42`, want: 1},
		"at its edge":                             {params: `{"absolute":0.5}`, output: `2.5`, expected: `2`, want: 1},
		"within a relative tolerance":             {params: `{"relative":0.05}`, output: `95`, expected: `100`, want: 1},
		"relative to the expected number":         {params: `{"relative":0.05}`, output: `100`, expected: `95`},
		"zero has no share":                       {params: `{"relative":0.5}`, output: `0.1`, expected: `0`},
		"the larger tolerance counts":             {params: `{"relative":0.5,"absolute":0.2}`, output: `0.1`, expected: `0`, want: 1},
		"in a sentence":                           {output: `"The answer is 42."`, expected: `42`, want: 1},
		"the last of several":                     {output: `"7 times 6 is 42"`, expected: `42`, want: 1},
		"the first of several":                    {params: `{"find":"first"}`, output: `"42, which is 6 times 7"`, expected: `42`, want: 1},
		"the only one":                            {params: `{"find":"only"}`, output: `"It is 42."`, expected: `42`, want: 1},
		"not the only one":                        {params: `{"find":"only"}`, output: `"It is 42 or 43."`, expected: `42`, says: "more than one number"},
		"thousands":                               {output: `"$1,234,567.50 in all"`, expected: `1234567.5`, want: 1},
		"commas of a list":                        {params: `{"find":"first"}`, output: `"12,3456"`, expected: `12`, want: 1},
		"a negative number":                       {output: `"minus: -3.5"`, expected: `-3.5`, want: 1},
		"a true minus sign":                       {output: `"−3"`, expected: `-3`, want: 1},
		"a negative amount of money":              {output: `"-$5"`, expected: `-5`, want: 1},
		"the dash of a range is no sign":          {output: `"10-20"`, expected: `20`, want: 1},
		"an exponent":                             {output: `"6.02e23"`, expected: `6.02E+23`, want: 1},
		"a letter after a number":                 {output: `"5kg"`, expected: `5`, want: 1},
		"an exponent without digits":              {output: `"5e"`, expected: `5`, want: 1},
		"per cent is not converted":               {output: `"12%"`, expected: `12`, want: 1},
		"digits in a word":                        {output: `"42, says GPT4 of v1.5"`, expected: `42`, want: 1},
		"a version":                               {output: `"42 by 1.2.3"`, expected: `42`, want: 1},
		"a fraction without a whole":              {output: `".5"`, expected: `0.5`, want: 1},
		"text on both sides":                      {output: `"It is 42"`, expected: `"42 apples"`, want: 1},
		"no number":                               {output: `"I do not know"`, expected: `42`, says: "no number"},
		"a number beyond all":                     {output: `1e999`, expected: `42`, says: "too large"},
		"a part":                                  {params: `{"path":"/total","expected_path":"/total"}`, output: `{"total":10,"tax":2}`, expected: `{"total":10,"tax":1}`, want: 1},
		"the item's tolerance":                    {output: `43`, expected: `42`, assertions: []string{`{"type":"numeric_tolerance","absolute":2}`}, want: 1},
		"a tolerance of the item that is none":    {output: `43`, expected: `42`, assertions: []string{`{"type":"numeric_tolerance","absolute":-2}`}, reason: metric.ReasonBadAssertion, says: "at least 0"},
		"an expected output without a number":     {output: `42`, expected: `"many"`, reason: metric.ReasonBadExpectation},
		"an expected number beyond all":           {output: `42`, expected: `1e999`, reason: metric.ReasonBadExpectation},
		"no expected output":                      {output: `42`, reason: metric.ReasonNoExpectation},
		"no output":                               {expected: `42`, reason: metric.ReasonNoOutput},
		"several numbers where one is expected":   {params: `{"find":"only"}`, output: `42`, expected: `"42 or 43"`, reason: metric.ReasonBadExpectation},
		"null has no number":                      {output: `null`, expected: `0`},
		"a range of years in another script":      {output: `"平成30年、2018"`, expected: `2018`, want: 1},
		"a number at the end of a quoted payload": {output: `{"role":"assistant","content":[{"type":"text","text":"so "},{"type":"text","text":"7"}]}`, expected: `7`, want: 1},
	})
}
