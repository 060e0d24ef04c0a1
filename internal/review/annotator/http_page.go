package annotator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"strconv"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
	"github.com/assayhq/assay/internal/measure/report"
	"github.com/assayhq/assay/internal/review/annotation"
)

const (
	// requiredAccuracy is what people are to reach on gold items.
	requiredAccuracy = 0.8
	// wantedError is the standard error of alpha that is worth more answers.
	wantedError = 0.05
)

func (s *Service) getReport(ctx context.Context, in *annotation.TaskPath) (*httpapi.Stream, error) {
	org := principal.From(ctx).Org
	p, err := s.Panel(ctx, principal.From(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	seen, err := s.toReport(ctx, org, p)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := report.WriteTask(&page, seen); err != nil {
		return nil, fmt.Errorf("write the report of task %d: %w", in.ID, err)
	}
	headers := map[string]string{
		"Content-Type":                 "text/html; charset=utf-8",
		"Content-Length":               strconv.Itoa(page.Len()),
		"Content-Disposition":          mime.FormatMediaType("attachment", map[string]string{"filename": "agreement-" + strconv.FormatInt(in.ID, 10) + ".html"}),
		"Content-Security-Policy":      httpapi.Sealed,
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	return httpapi.NewStream(ctx, headers, func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	}), nil
}
