package blob

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Config says where objects are kept.
type Config struct {
	URL string `setting:"url" default:"file:///var/lib/assay/blobs" help:"Object storage: a folder shared by all replicas, file:///var/lib/assay/blobs, or a bucket, s3://BUCKET?region=REGION. A store other than AWS also needs &endpoint=https://HOST and often &use_path_style=true. S3 credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the role of the machine."`
}

// Validate says what to change when the configuration cannot work.
func (c Config) Validate() error {
	_, err := parse(c.URL)
	return err
}

// target is a configuration that was read: a folder or a bucket.
type target struct {
	folder string

	bucket, region, endpoint string
	pathStyle                bool
}

const looks = "it should look like file:///var/lib/assay/blobs or s3://BUCKET?region=REGION"

// parse reads the URL. Its errors do not quote the URL, in which someone may
// have put a password.
func parse(text string) (target, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return target{}, errors.New("url is empty: " + looks)
	case err != nil || u.Opaque != "" || u.Fragment != "":
		return target{}, errors.New("url cannot be read: " + looks)
	case u.User != nil:
		return target{}, errors.New("url has credentials: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	switch u.Scheme {
	case "file":
		return parseFolder(u)
	case "s3":
		return parseBucket(u)
	}
	return target{}, errors.New("url has an unknown scheme: " + looks)
}

func parseFolder(u *url.URL) (target, error) {
	folder := filepath.Clean(filepath.FromSlash(u.Path))
	switch {
	case u.Host != "":
		return target{}, errors.New("url names a host before the folder: write three slashes and the whole path, for example file:///var/lib/assay/blobs")
	case u.RawQuery != "":
		return target{}, errors.New("url has parameters, which a folder does not take: remove the part from the question mark on")
	case !filepath.IsAbs(folder) || folder == filepath.Dir(folder):
		return target{}, errors.New("url names no folder: write the whole path, for example file:///var/lib/assay/blobs")
	}
	return target{folder: folder}, nil
}

// bucketForm is the form of bucket names that every S3 store takes.
var bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func parseBucket(u *url.URL) (target, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, errors.New("url has parameters that cannot be read: " + looks)
	}
	errs := []error{parameters(query)}
	if !bucketForm.MatchString(u.Host) {
		errs = append(errs, errors.New("url names no bucket: write its name after s3://, 3 to 63 small letters, digits, dots and hyphens"))
	}
	if strings.Trim(u.Path, "/") != "" {
		errs = append(errs, errors.New("url has a path after the bucket: give a bucket of its own, without a path"))
	}
	t := target{bucket: u.Host, region: query.Get("region"), endpoint: query.Get("endpoint")}
	if t.region == "" {
		errs = append(errs, errors.New("url has no region: add for example region=eu-central-1, or region=us-east-1 if the store knows no regions"))
	}
	if t.endpoint != "" && !isEndpoint(t.endpoint) {
		errs = append(errs, errors.New("url has an endpoint that is not a plain https or http URL: write for example endpoint=https://s3.example.com"))
	}
	if text := query.Get("use_path_style"); text != "" {
		if t.pathStyle, err = strconv.ParseBool(text); err != nil {
			errs = append(errs, errors.New("url has a use_path_style that is neither true nor false"))
		}
	}
	return t, errors.Join(errs...)
}

// parameters refuses what is not known, so that a misspelling is an error and
// not a default.
func parameters(query url.Values) error {
	known := []string{"region", "endpoint", "use_path_style"}
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("url has an unknown parameter %q: there are %s", name, strings.Join(known, ", "))
		case len(values) > 1:
			return fmt.Errorf("url has the parameter %q twice: keep one", name)
		}
	}
	return nil
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
