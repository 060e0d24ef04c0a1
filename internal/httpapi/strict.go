package httpapi

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assayhq/assay/internal/fault"
)

// Limits of the JSON that the interface takes. Without them a small body could
// cost a large amount of memory or lose digits silently.
const (
	maxDepth        = 64
	maxNumberLength = 64
	maxSafeInteger  = 1<<53 - 1
)

// checkJSON refuses what a lenient parser would quietly change: duplicate
// names, invalid UTF-8, integers that a double cannot hold, numbers that are
// not finite, trailing data, and nesting deep enough to hurt.
func checkJSON(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) && dec.StackDepth() == 0 && dec.InputOffset() > 0 {
			return nil
		}
		if err != nil {
			return syntaxError(dec, err)
		}
		if dec.StackDepth() > maxDepth {
			return jsonError(dec.StackPointer(), "length", "is nested deeper than 64 levels", maxDepth)
		}
		if tok.Kind() == '0' {
			if message := numberProblem(tok.String()); message != "" {
				return jsonError(dec.StackPointer(), "format", message, nil)
			}
		}
		if dec.StackDepth() == 0 {
			// One value is complete; only white space may follow.
			if rest := bytes.TrimLeft(body[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
				return jsonError("", "format", "has data after its end", nil)
			}
			return nil
		}
	}
}

func numberProblem(text string) string {
	if len(text) > maxNumberLength {
		return "is a number of more than 64 characters"
	}
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > maxSafeInteger || n < -maxSafeInteger {
			return "is an integer outside ±(2^53−1); send it as a string"
		}
		return ""
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(f, 0) {
		return "is not a finite number"
	}
	return ""
}

func syntaxError(dec *jsontext.Decoder, err error) error {
	pointer := dec.StackPointer()
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer = syntactic.JSONPointer
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errBodyCut
	case errors.Is(err, jsontext.ErrDuplicateName):
		return jsonError(pointer, "ambiguous_field", "occurs twice in its object", nil)
	case strings.Contains(err.Error(), "UTF-8"):
		return jsonError(pointer, "format", "is not valid UTF-8", nil)
	default:
		return jsonError(pointer, "format", "is not JSON at byte "+strconv.FormatInt(dec.InputOffset(), 10), nil)
	}
}

func jsonError(pointer jsontext.Pointer, code, message string, limit any) error {
	return errInvalidJSON.WithFields(fault.Field{In: "body", Path: string(pointer), Code: code, Message: message, Limit: limit})
}
