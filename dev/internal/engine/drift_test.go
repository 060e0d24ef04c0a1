package engine

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// drift lists every difference between what is shipped and what the launcher
// runs. An empty list means that a test against the launcher's engines speaks
// for the compose file. A test of the second shard does not: that one has no
// counterpart, and less memory.
func drift(d deployment) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var file composeFile
	if err := yaml.Unmarshal([]byte(d.compose), &file); err != nil {
		return []string{"compose.yaml does not parse: " + err.Error()}
	}
	compareVersions(d, file, report)
	comparePorts(file, report)
	comparePostgres(d, file, report)
	compareClickHouse(d, file, report)
	compareTemporal(file, report)
	compareApp(file, report)
	compareEngines(file, report)
	for name, s := range file.Services {
		if s.Restart != "on-failure" && s.Healthcheck == nil {
			report("%s: no health check", name)
		}
	}
	return found
}

type reporter = func(format string, args ...any)

func compareVersions(d deployment, file composeFile, report reporter) {
	wanted := map[string]string{
		"postgres":           fmt.Sprintf(`^postgres:%d$`, postgresMajor),
		"clickhouse":         `^clickhouse/clickhouse-server:` + regexp.QuoteMeta(clickhouseVersion) + `$`,
		"redis":              fmt.Sprintf(`^redis:%d\.[0-9]+-alpine$`, redisMajor),
		"temporal":           `^temporalio/server:` + regexp.QuoteMeta(temporalVersion) + `$`,
		"temporal-schema":    `^temporalio/admin-tools:` + regexp.QuoteMeta(temporalVersion) + `$`,
		"temporal-namespace": `^temporalio/admin-tools:` + regexp.QuoteMeta(temporalVersion) + `$`,
	}
	for name, pattern := range wanted {
		if image := file.Services[name].Image; !regexp.MustCompile(pattern).MatchString(image) {
			report("%s: image %q is not of the release that development runs (%s)", name, image, pattern)
		}
	}
	for _, name := range []string{"temporal-server", "temporal-sql"} {
		if d.pins[name] != "v"+temporalVersion {
			report("dev/tool pins %s %s, the launcher expects %s", name, d.pins[name], temporalVersion)
		}
	}
	if !strings.HasPrefix(d.pins["chdb"], clickhouseVersion+".") {
		report("dev/tool pins chdb %s, the launcher expects %s", d.pins["chdb"], clickhouseVersion)
	}
	if !strings.Contains(d.dockerfile, "golang:"+d.goVersion+"-") {
		report("deploy/Dockerfile does not build with golang:%s", d.goVersion)
	}
}

func comparePorts(file composeFile, report reporter) {
	known := map[string]bool{}
	expect := func(service string, number int) {
		published := fmt.Sprintf("127.0.0.1:%d:%d", number, number)
		known[published] = true
		if !slices.Contains(file.Services[service].Ports, published) {
			report("%s: port %d is not published as %s", service, number, published)
		}
	}
	for _, line := range portTable {
		service, _, _ := strings.Cut(line.Name, "-")
		// Published, such a port is one that is not in the table.
		if !developmentOnly(service) {
			expect(service, line.Standard)
		}
	}
	for _, port := range appPorts {
		expect("assay", port)
	}
	for name, s := range file.Services {
		for _, published := range s.Ports {
			if !strings.HasPrefix(published, "127.0.0.1:") {
				report("%s: port %s is open beyond loopback", name, published)
			} else if !known[published] {
				report("%s: port %s is not in the table", name, published)
			}
		}
	}
}

// compareEngines holds the two lists of engines together. What development has
// on top is argued where the engine is declared, and stays out of the compose file.
func compareEngines(file composeFile, report reporter) {
	for _, e := range Engines {
		if _, shipped := file.Services[e.Name]; shipped && e.DevelopmentOnly {
			report("%s: is an engine of development alone", e.Name)
		} else if !shipped && !e.DevelopmentOnly {
			report("%s: is not in the compose file", e.Name)
		}
	}
}

func developmentOnly(engine string) bool {
	return slices.ContainsFunc(Engines, func(e Engine) bool { return e.Name == engine && e.DevelopmentOnly })
}

func comparePostgres(d deployment, file composeFile, report reporter) {
	s := file.Services["postgres"]
	shipped := map[string]string{}
	for i, word := range s.Command {
		if word == "-c" && i+1 < len(s.Command) {
			name, value, _ := strings.Cut(s.Command[i+1], "=")
			shipped[name] = value
		}
	}
	compareMaps("postgres: setting", shipped, postgresSettings, report)
	compareDefaults("postgres", s, postgresPasswords, report)
	expectMount("postgres", s, "./postgres/init.sql", report)
	rights := map[string]string{
		ownerRole:    "LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS",
		appRole:      "LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS",
		temporalRole: "LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS",
	}
	for variable, role := range postgresPasswords {
		if !strings.Contains(d.initSQL, "ALTER ROLE "+role+" "+rights[role]+" PASSWORD") {
			report("init.sql: role %s does not have exactly %s", role, rights[role])
		}
		if !regexp.MustCompile(`\\getenv \w+ ` + variable + `\n`).MatchString(d.initSQL) {
			report("init.sql: the password of %s does not come from %s", role, variable)
		}
	}
	owners := map[string]string{assayDatabase: ownerRole}
	for _, s := range temporalSchemas {
		owners[s.Database] = temporalRole
	}
	for database, owner := range owners {
		if !strings.Contains(d.initSQL, fmt.Sprintf("CREATE DATABASE %s OWNER %s'", database, owner)) {
			report("init.sql: no database %s of %s", database, owner)
		}
	}
	var redis []string
	for _, setting := range redisSettings {
		redis = append(redis, "--"+setting[0], setting[1])
	}
	if command := file.Services["redis"].Command; !slices.Equal(command, append([]string{"redis-server"}, redis...)) {
		report("redis: command %q has other settings than %q", command, redis)
	}
}

// systemLogs are the tables in which ClickHouse would write about itself for ever.
var systemLogs = []string{
	"query_log", "query_thread_log", "query_views_log", "query_metric_log", "trace_log", "text_log", "metric_log",
	"asynchronous_metric_log", "part_log", "processors_profile_log", "session_log", "asynchronous_insert_log",
	"opentelemetry_span_log", "error_log", "latency_log", "blob_storage_log", "backup_log", "crash_log",
}

func compareClickHouse(d deployment, file composeFile, report reporter) {
	s := file.Services["clickhouse"]
	compareDefaults("clickhouse", s, clickhousePasswords, report)
	for _, name := range []string{"config.d/assay.xml", "users.d/assay.xml"} {
		expectMount("clickhouse", s, "./clickhouse/"+name, report)
	}
	if s.Environment["CLICKHOUSE_DB"] != assayDatabase {
		report("clickhouse: database %q is not %q", s.Environment["CLICKHOUSE_DB"], assayDatabase)
	}
	for _, name := range systemLogs {
		body := regexp.MustCompile(`(?s)<` + name + ` replace="1">.*?</` + name + `>`).FindString(d.chConfig)
		if !strings.Contains(d.chConfig, "<"+name+` remove="1"/>`) && !strings.Contains(body, "<ttl>") {
			report("clickhouse: the system log %s has no end", name)
		}
	}
	for variable, user := range clickhousePasswords {
		body := regexp.MustCompile(`(?s)<users>.*<` + user + `>.*?</` + user + `>`).FindString(d.chUsers)
		if !strings.Contains(body, `from_env="`+variable+`"`) {
			report("clickhouse: user %s does not take its password from %s", user, variable)
		}
	}
	reader := regexp.MustCompile(`(?s)<profiles>.*<` + clickhouseReader + `>(.*?)<constraints>`).FindString(d.chUsers)
	for _, limit := range []string{"readonly", "max_memory_usage", "max_execution_time", "max_result_rows"} {
		if !strings.Contains(reader, "<"+limit+">") {
			report("clickhouse: the profile of %s sets no %s", clickhouseReader, limit)
		}
	}
}

func compareTemporal(file composeFile, report reporter) {
	server := file.Services["temporal"]
	shipped := map[string]string{}
	wanted := map[string]string{
		"DB": temporalPlugin, "NUM_HISTORY_SHARDS": fmt.Sprint(temporalShards), "POSTGRES_USER": temporalRole,
		"DBNAME": temporalSchemas[0].Database, "VISIBILITY_DBNAME": temporalSchemas[1].Database,
		"POSTGRES_PWD": developmentPassword(temporalRole),
	}
	for name := range wanted {
		shipped[name] = expand(server.Environment[name])
	}
	compareMaps("temporal:", shipped, wanted, report)
	expectMount("temporal", server, "./temporal/dynamicconfig.yaml", report)
	schema := file.Services["temporal-schema"]
	if schema.Environment["SQL_PLUGIN"] != temporalPlugin {
		report("temporal-schema: plugin %q is not %q", schema.Environment["SQL_PLUGIN"], temporalPlugin)
	}
	script := strings.Join(schema.Command, "\n")
	for _, s := range temporalSchemas {
		command := fmt.Sprintf("--db %s update-schema --schema-name %s\n", s.Database, s.Schema)
		if !strings.Contains(script, command) {
			report("temporal-schema: does not run %q", command)
		}
	}
	create := fmt.Sprintf("--namespace %s --retention %.0fh\n", temporalNamespace, temporalRetention.Hours())
	if !strings.Contains(strings.Join(file.Services["temporal-namespace"].Command, "\n"), create) {
		report("temporal-namespace: does not create with %q, the retention or name differs", create)
	}
}

func compareApp(file composeFile, report reporter) {
	wanted := map[string]string{}
	for _, line := range environment(func(engine string) string {
		i := slices.IndexFunc(portTable, func(p port) bool { return p.Name == engine })
		return fmt.Sprintf("%s:%d", engine, portTable[i].Standard)
	}) {
		wanted[line[0]] = line[1]
	}
	shipped := map[string]string{}
	for name, value := range file.Services["assay"].Environment {
		shipped[name] = expand(value)
	}
	pepper := file.Services["assay"].Environment["ASSAY_KEY_PEPPER"]
	if !strings.HasPrefix(pepper, "${ASSAY_KEY_PEPPER:?") || !strings.Contains(pepper, "openssl rand -hex 32") {
		report("assay: ASSAY_KEY_PEPPER is not required with a word on how to make one")
	}
	delete(shipped, "ASSAY_KEY_PEPPER")
	compareMaps("assay: variable", shipped, wanted, report)
}

func compareMaps(what string, shipped, wanted map[string]string, report reporter) {
	names := maps.Clone(wanted)
	maps.Copy(names, shipped)
	for name := range names {
		if shipped[name] != wanted[name] {
			report("%s %s is %q in the compose file and %q in development", what, name, shipped[name], wanted[name])
		}
	}
}

func compareDefaults(service string, s service, passwords map[string]string, report reporter) {
	for variable, role := range passwords {
		if got := expand(s.Environment[variable]); got != developmentPassword(role) {
			report("%s: %s defaults to %q, development has %q", service, variable, got, developmentPassword(role))
		}
	}
}

func expectMount(name string, s service, source string, report reporter) {
	for _, volume := range s.Volumes {
		if from, to, _ := strings.Cut(volume, ":"); from == source && path.IsAbs(to) {
			return
		}
	}
	report("%s: %s is not mounted", name, source)
}

// expand gives each ${NAME:-default} its default, as an empty environment would.
func expand(value string) string {
	return regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAllString(value, "$1")
}
