package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
)

// invitationPath ends the address of an invitation.
const invitationPath = "/app/invitation"

// Invitation is a link with which a member comes in.
type Invitation struct {
	base string
	link string
}

// ParseInvitation reads a link; ok is false if the text is another URL.
func ParseInvitation(text string) (in Invitation, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !strings.HasSuffix(u.Path, invitationPath) || u.Query().Get("token") == "" {
		return Invitation{}, false
	}
	base := *u
	base.Path, base.RawQuery, base.Fragment = strings.TrimSuffix(u.Path, invitationPath), "", ""
	return Invitation{base: base.String(), link: text}, true
}

// Base is the URL of the Assay that the link belongs to.
func (in Invitation) Base() string { return in.base }

// Accept chooses the password of whoever the invitation is for, and returns the first key that
// they have: their own.
func (in Invitation) Accept(ctx context.Context, password string) (key string, err error) {
	body, err := json.Marshal(map[string]string{"password": password})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, in.link, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("the link cannot be read") // whose token stays unprinted
	}
	req.Header.Set("Content-Type", "application/json")
	c, err := New(in.base, "none", nil)
	if err != nil {
		return "", err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.base, ErrUnanswered)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("%s: %w", in.base, ErrUnanswered)
	}
	var said struct {
		Key   string `json:"key"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &said) != nil || said.Key == "" && said.Error.Message == "" {
		return "", errFormat
	}
	if said.Key == "" {
		return "", mistake("%s", plain(said.Error.Message))
	}
	return said.Key, nil
}
