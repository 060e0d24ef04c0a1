package testkit

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/measure/stat"
)

// AnnotationTask is a task as the interface shows it.
type AnnotationTask struct {
	ID             int64          `json:"id"`
	Name           string         `json:"name"`
	Type           string         `json:"type"`
	Status         string         `json:"status"`
	Blind          bool           `json:"blind"`
	AssigneeIDs    []string       `json:"assignee_ids"`
	Source         map[string]any `json:"source"`
	TotalItems     int            `json:"total_items"`
	CompletedItems int            `json:"completed_items"`
	Version        int64          `json:"version"`
}

// AnnotationItem is an item of a task as the interface shows it.
type AnnotationItem struct {
	ID                   int64        `json:"id"`
	TaskID               int64        `json:"task_id"`
	Status               string       `json:"status"`
	Content              any          `json:"content"`
	Suggestion           any          `json:"suggestion"`
	EvaluationRunID      *string      `json:"evaluation_run_id"`
	TestCaseID           *string      `json:"test_case_id"`
	TraceID              *string      `json:"trace_id"`
	InclusionProbability *float64     `json:"inclusion_probability"`
	AnnotationsCount     int          `json:"annotations_count"`
	AnnotationsRequired  int          `json:"annotations_required"`
	Agreement            *float64     `json:"agreement"`
	Annotations          []Annotation `json:"annotations"`
	Skips                []struct {
		Annotator Actor  `json:"annotator"`
		Reason    string `json:"reason"`
	} `json:"skips"`
	AdjudicationItemID *int64  `json:"adjudication_item_id"`
	LockedBy           *string `json:"locked_by"`
	LockExpiresAt      *string `json:"lock_expires_at"`
}

// Annotation is an annotation as the interface shows it.
type Annotation struct {
	ID              int64          `json:"id"`
	TaskID          *int64         `json:"task_id"`
	ItemID          *int64         `json:"item_id"`
	EvaluationRunID *string        `json:"evaluation_run_id"`
	TestCaseID      *string        `json:"test_case_id"`
	TraceID         *string        `json:"trace_id"`
	Annotator       Actor          `json:"annotator"`
	Rating          *float64       `json:"rating"`
	Label           *string        `json:"label"`
	Labels          map[string]any `json:"labels"`
	Feedback        *string        `json:"feedback"`
	CorrectedOutput any            `json:"corrected_output"`
	Confidence      *float64       `json:"confidence"`
	DurationMS      *int64         `json:"duration_ms"`
	Status          string         `json:"status"`
	Version         int64          `json:"version"`
	Revisions       []struct {
		Version int64    `json:"version"`
		Rating  *float64 `json:"rating"`
		Label   *string  `json:"label"`
	} `json:"revisions"`
}

// AddedAnnotationItems is what adding items, or answering one, returns.
type AddedAnnotationItems struct {
	Created    int              `json:"created"`
	Items      []AnnotationItem `json:"items"`
	Annotation *Annotation      `json:"annotation"`
}

// NextAnnotationItem is what taking an item returns.
type NextAnnotationItem struct {
	Item           *AnnotationItem `json:"item"`
	Reason         *string         `json:"reason"`
	TotalItems     int             `json:"total_items"`
	CompletedItems int             `json:"completed_items"`
}

// AnnotationAgreement is how well the people of a task agree, as the interface shows it.
type AnnotationAgreement struct {
	Abstained *string       `json:"abstained"`
	Answers   int           `json:"answers"`
	LeftOut   int           `json:"left_out"`
	Items     int           `json:"items"`
	Shared    int           `json:"shared"`
	Ordered   bool          `json:"ordered"`
	Scale     []string      `json:"scale"`
	Alpha     stat.Estimate `json:"krippendorff_alpha"`
	AC1       stat.Estimate `json:"ac1"`
	Pairs     []struct {
		First  Actor          `json:"first"`
		Second Actor          `json:"second"`
		Shared int            `json:"shared"`
		Kappa  *stat.Estimate `json:"kappa"`
	} `json:"pairs"`
	Labels []struct {
		Label     string        `json:"label"`
		Agreement stat.Estimate `json:"agreement"`
	} `json:"labels"`
	Annotators []AnnotatorQuality `json:"annotators"`
	Audit      struct {
		Items          int           `json:"items"`
		ErrorRate      stat.Estimate `json:"error_rate"`
		ExpectedErrors *float64      `json:"expected_errors"`
	} `json:"audit"`
	Gold *struct {
		Questions    int     `json:"questions"`
		Answered     int     `json:"answered"`
		Contradicted []int64 `json:"contradicted"`
	} `json:"gold"`
	Consensus struct {
		Status    string  `json:"status"`
		Method    *string `json:"method"`
		Uncertain int     `json:"uncertain_items"`
	} `json:"consensus"`
	Hardest []struct {
		ID        int64     `json:"id"`
		Label     *string   `json:"label"`
		Posterior []float64 `json:"posterior"`
		Entropy   *float64  `json:"entropy"`
		N         int       `json:"n"`
	} `json:"hardest"`
}

// AnnotatorQuality is how an annotator works, as the interface shows it.
type AnnotatorQuality struct {
	Annotator    Actor         `json:"annotator"`
	Labels       int           `json:"labels"`
	Accuracy     stat.Estimate `json:"accuracy"`
	AlphaWithout stat.Estimate `json:"alpha_without"`
	AlphaChange  stat.Estimate `json:"alpha_change"`
	MedianMS     stat.Estimate `json:"median_ms"`
	Gold         *struct {
		Items    int           `json:"items"`
		Correct  int           `json:"correct"`
		Accuracy stat.Estimate `json:"accuracy"`
		Standing string        `json:"standing"`
	} `json:"gold"`
	Flags []string `json:"flags"`
}

const annotations = "/api/annotations"

func taskAt(id int64) string { return fmt.Sprintf("%s/tasks/%d", annotations, id) }

// AnnotationTask makes a task with so many items.
func (c *Client) AnnotationTask(t testing.TB, items int, body map[string]any) AnnotationTask {
	t.Helper()
	if body["name"] == nil {
		body["name"] = "Labels " + random()
	}
	task, err := c.CreateAnnotationTask(t.Context(), body)
	require.NoError(t, err)
	var list []map[string]any
	for i := range items {
		list = append(list, map[string]any{"content": fmt.Sprint("item ", i)})
	}
	if items > 0 {
		_, err = c.AddAnnotationItems(t.Context(), task.ID, map[string]any{"items": list})
		require.NoError(t, err)
	}
	task, err = c.GetAnnotationTask(t.Context(), task.ID)
	require.NoError(t, err)
	return task
}

// CreateAnnotationTask makes a task.
func (c *Client) CreateAnnotationTask(ctx context.Context, body map[string]any, opts ...Option) (out AnnotationTask, err error) {
	_, err = c.Call(ctx, http.MethodPost, annotations+"/tasks", body, &out, opts...)
	return out, err
}

// GetAnnotationTask reads a task.
func (c *Client) GetAnnotationTask(ctx context.Context, id int64) (out AnnotationTask, err error) {
	_, err = c.Call(ctx, http.MethodGet, taskAt(id), nil, &out)
	return out, err
}

// UpdateAnnotationTask changes a task.
func (c *Client) UpdateAnnotationTask(ctx context.Context, id int64, body map[string]any, opts ...Option) (out AnnotationTask, err error) {
	_, err = c.Call(ctx, http.MethodPut, taskAt(id), body, &out, opts...)
	return out, err
}

// AnnotationTasks lists tasks.
func (c *Client) AnnotationTasks(ctx context.Context, query string) ([]AnnotationTask, error) {
	var out struct {
		Tasks []AnnotationTask `json:"tasks"`
	}
	_, err := c.Call(ctx, http.MethodGet, annotations+"/tasks"+query, nil, &out)
	return out.Tasks, err
}

// AddAnnotationItems adds items to a task, or answers one.
func (c *Client) AddAnnotationItems(ctx context.Context, task int64, body map[string]any, opts ...Option) (out AddedAnnotationItems, err error) {
	_, err = c.Call(ctx, http.MethodPost, taskAt(task)+"/items", body, &out, opts...)
	return out, err
}

// Answer submits an answer to an item.
func (c *Client) Answer(ctx context.Context, task, item int64, value map[string]any, opts ...Option) (Annotation, error) {
	out, err := c.AddAnnotationItems(ctx, task, map[string]any{"itemId": item, "annotation": value}, opts...)
	if err != nil {
		return Annotation{}, err
	}
	return *out.Annotation, nil
}

// UpdateAnnotationItem revises an answer, skips an item or changes its content.
func (c *Client) UpdateAnnotationItem(ctx context.Context, task int64, body map[string]any, opts ...Option) (out AnnotationItem, err error) {
	_, err = c.Call(ctx, http.MethodPut, taskAt(task)+"/items", body, &out, opts...)
	return out, err
}

// AnnotationItems lists the items of a task.
func (c *Client) AnnotationItems(ctx context.Context, task int64, query string) ([]AnnotationItem, error) {
	var out struct {
		Items []AnnotationItem `json:"items"`
	}
	_, err := c.Call(ctx, http.MethodGet, taskAt(task)+"/items"+query, nil, &out)
	return out.Items, err
}

// AnnotationAgreement reads how well the people of a task agree.
func (c *Client) AnnotationAgreement(ctx context.Context, task int64) (out AnnotationAgreement, err error) {
	_, err = c.Call(ctx, http.MethodGet, taskAt(task)+"/agreement", nil, &out)
	return out, err
}

// AnnotationReport reads the page of a task.
func (c *Client) AnnotationReport(ctx context.Context, task int64) (*Response, error) {
	return c.Call(ctx, http.MethodGet, taskAt(task)+"/report", nil, nil)
}

// NextItem takes the next item of a task.
func (c *Client) NextItem(ctx context.Context, task int64, opts ...Option) (out NextAnnotationItem, err error) {
	_, err = c.Call(ctx, http.MethodPost, taskAt(task)+"/next", nil, &out, opts...)
	return out, err
}

// Annotate makes an annotation.
func (c *Client) Annotate(ctx context.Context, body map[string]any, opts ...Option) (out Annotation, err error) {
	_, err = c.Call(ctx, http.MethodPost, annotations, body, &out, opts...)
	return out, err
}

// GetAnnotation reads an annotation.
func (c *Client) GetAnnotation(ctx context.Context, id int64) (out Annotation, err error) {
	_, err = c.Call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", annotations, id), nil, &out)
	return out, err
}

// UpdateAnnotation changes an annotation.
func (c *Client) UpdateAnnotation(ctx context.Context, id int64, body map[string]any, opts ...Option) (out Annotation, err error) {
	_, err = c.Call(ctx, http.MethodPatch, fmt.Sprintf("%s/%d", annotations, id), body, &out, opts...)
	return out, err
}

// DeleteAnnotation deletes an annotation.
func (c *Client) DeleteAnnotation(ctx context.Context, id int64) error {
	_, err := c.Call(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", annotations, id), nil, nil)
	return err
}

// Annotations lists annotations.
func (c *Client) Annotations(ctx context.Context, query string) ([]Annotation, error) {
	var out struct {
		Annotations []Annotation `json:"annotations"`
	}
	_, err := c.Call(ctx, http.MethodGet, annotations+query, nil, &out)
	return out.Annotations, err
}
