// Package config fills the packages' own Config structs from an optional YAML
// file and the environment, checks them, and prints them without secrets.
//
// A setting's name is the path of its `setting` tags: postgres.url in the
// file, ASSAY_POSTGRES_URL in the environment. The environment wins.
package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/platform/secret"
)

// Prefix begins the name of every environment variable of ours.
const Prefix = "ASSAY_"

// Setting is one value that can be configured.
type Setting struct {
	Name    string // postgres.url
	Env     string // ASSAY_POSTGRES_URL
	Default string
	Help    string
	Secret  bool
	Source  string // "default", "file" or "environment"
	field   reflect.Value
}

// Value is the setting's value as text; secrets are hidden.
func (s Setting) Value() string { return fmt.Sprint(s.field.Interface()) }

// Load fills target, a pointer to a struct of Config structs. Each problem is
// reported with the name to change; all problems are reported at once.
func Load(target any, file []byte, environ []string) ([]Setting, error) {
	settings, err := Settings(target)
	if err != nil {
		return nil, err
	}
	var errs []error
	fromFile, err := readFile(file)
	if err != nil {
		errs = append(errs, err)
	}
	fromEnv := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, Prefix) {
			fromEnv[k] = v
		}
	}
	unread := map[string]bool{} // groups with a value that cannot be read
	for i := range settings {
		s := &settings[i]
		text, where := s.Default, "default"
		if v, ok := fromFile[s.Name]; ok {
			text, where = v, "file"
		}
		if v, ok := fromEnv[s.Env]; ok {
			text, where = v, "environment"
		}
		s.Source = where
		delete(fromFile, s.Name)
		delete(fromEnv, s.Env)
		if err := set(s.field, text); err != nil {
			errs = append(errs, fmt.Errorf("%s (%s, from the %s): %w", s.Name, s.Env, where, err))
			group, _, _ := strings.Cut(s.Name, ".")
			unread[group] = true
		}
	}
	errs = append(errs, unknown("file", fromFile, settings, func(s Setting) string { return s.Name })...)
	errs = append(errs, unknown("environment", fromEnv, settings, func(s Setting) string { return s.Env })...)
	return settings, errors.Join(append(errs, validate(target, unread))...)
}

// Settings lists what can be configured, in the order of declaration.
func Settings(target any) ([]Setting, error) {
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("config: target is %T, not a pointer to a struct", target)
	}
	var out []Setting
	walk(v.Elem(), "", func(name string, f reflect.StructField, field reflect.Value) {
		out = append(out, Setting{
			Name:    name,
			Env:     envName(name),
			Default: f.Tag.Get("default"),
			Help:    f.Tag.Get("help"),
			Secret:  field.Type() == reflect.TypeFor[secret.Text](),
			field:   field,
		})
	})
	return out, nil
}

// envName is the variable of a setting.
func envName(name string) string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

func walk(v reflect.Value, prefix string, visit func(string, reflect.StructField, reflect.Value)) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, ok := f.Tag.Lookup("setting")
		if !ok {
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			walk(v.Field(i), prefix+name+".", visit)
			continue
		}
		visit(prefix+name, f, v.Field(i))
	}
}

func set(field reflect.Value, text string) error {
	switch field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration: use a number and a unit, such as 30s or 5m", text)
		}
		field.SetInt(int64(d))
		return nil
	case []string:
		var list []string
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		field.Set(reflect.ValueOf(list))
		return nil
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		field.SetInt(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		field.SetFloat(n)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not true or false", text)
		}
		field.SetBool(b)
	default:
		return fmt.Errorf("a setting cannot be a %s", field.Type())
	}
	return nil
}

// readFile flattens a YAML document to setting names.
func readFile(file []byte) (map[string]string, error) {
	out := map[string]string{}
	if len(file) == 0 {
		return out, nil
	}
	var doc any
	if err := yaml.Unmarshal(file, &doc); err != nil {
		return out, fmt.Errorf("the configuration file is not YAML: %w", err)
	}
	if doc == nil {
		return out, nil // only comments
	}
	settings, ok := doc.(map[string]any)
	if !ok {
		return out, errors.New("the configuration file does not name settings: write for example `http:` and below it, indented, `addr: :8080`")
	}
	var twice []string
	flatten("", settings, func(name, value string) {
		if _, known := out[name]; known {
			twice = append(twice, name)
		}
		out[name] = value
	})
	if len(twice) > 0 {
		slices.Sort(twice)
		return out, fmt.Errorf("%s is in the file twice, nested and with dots: keep one", strings.Join(twice, ", "))
	}
	return out, nil
}

func flatten(prefix string, v any, set func(name, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			flatten(strings.TrimPrefix(prefix+"."+k, "."), e, set)
		}
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = fmt.Sprint(e)
		}
		set(prefix, strings.Join(parts, ","))
	case nil:
		set(prefix, "")
	default:
		set(prefix, fmt.Sprint(v))
	}
}

// ofCommands are variables of a user's commands, which may run where a server does.
var ofCommands = []string{Prefix + "URL", Prefix + "API_KEY", Prefix + "PROFILE"}

// unknown refuses names that nothing reads, so that a misspelling is an error
// and not a default. Variables of the development engines, of tests and the passwords
// that the compose file takes are not settings.
func unknown(where string, left map[string]string, settings []Setting, nameOf func(Setting) string) []error {
	var errs []error
	for name := range left {
		if strings.HasPrefix(name, Prefix+"DEV_") || strings.HasPrefix(name, Prefix+"TEST_") || strings.HasSuffix(name, "_PASSWORD") || name == Prefix+"CACHE" || name == Prefix+"CONFIG" || name == Prefix+"BENCH" || slices.Contains(ofCommands, name) {
			continue
		}
		known := make([]string, len(settings))
		for i, s := range settings {
			known[i] = nameOf(s)
		}
		hint := "run `assay config` for the list"
		if closest := fault.Nearest(name, known); closest != "" {
			hint = "did you mean " + closest + "?"
		}
		errs = append(errs, fmt.Errorf("%s in the %s is not a setting: %s", name, where, hint))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// Validate asks each Config of target whether it can work.
func Validate(target any) error { return validate(target, nil) }

// validate asks each Config that could be read whether it can work.
func validate(target any, unread map[string]bool) error {
	v := reflect.ValueOf(target).Elem()
	var errs []error
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("setting")
		c, ok := v.Field(i).Interface().(interface{ Validate() error })
		if !ok || name == "" || unread[name] {
			continue
		}
		if err := c.Validate(); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				field, rest, _ := strings.Cut(line, " ")
				errs = append(errs, fmt.Errorf("%s.%s (%s) %s", name, field, envName(name+"."+field), rest))
			}
		}
	}
	return errors.Join(errs...)
}
