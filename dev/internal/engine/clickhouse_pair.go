package engine

import (
	"fmt"
	"strings"
)

// clickhousePairName is the cluster that the two servers make. Its tables are
// made on each of them, because this engine knows no ON CLUSTER.
const clickhousePairName = "pair"

// clickhouseShards names the servers of the cluster, the first shard first. The
// first alone is the ClickHouse of an installation.
var clickhouseShards = []string{"clickhouse", "clickhouse2"}

// clickhouseSmall holds the second server down: it has the rows of a few tests,
// and the memory belongs to the first.
const clickhouseSmall = `<clickhouse>
    <max_server_memory_usage>1073741824</max_server_memory_usage>
    <mark_cache_size>33554432</mark_cache_size>
    <max_concurrent_queries>100</max_concurrent_queries>
    <background_pool_size>2</background_pool_size>
    <background_move_pool_size>1</background_move_pool_size>
    <background_fetches_pool_size>1</background_fetches_pool_size>
    <background_common_pool_size>2</background_common_pool_size>
    <background_buffer_flush_schedule_pool_size>1</background_buffer_flush_schedule_pool_size>
    <background_schedule_pool_size>8</background_schedule_pool_size>
    <background_distributed_schedule_pool_size>2</background_distributed_schedule_pool_size>
</clickhouse>
`

// clickhousePair tells a server of the cluster. One shard asks another as
// Assay's user, whoever asked the first. Both servers read it when they start
// and never again, so the ports of both are settled before either starts.
func (c *Checkout) clickhousePair() string {
	variable := ""
	for name, user := range clickhousePasswords {
		if user == clickhouseUser {
			variable = name
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "    <remote_servers>\n        <%s>\n", clickhousePairName)
	for _, name := range clickhouseShards {
		fmt.Fprintf(&b, "            <shard><replica><host>127.0.0.1</host><port>%d</port><user>%s</user><password from_env=%q/></replica></shard>\n",
			c.Ports.on(name), clickhouseUser, variable)
	}
	fmt.Fprintf(&b, "        </%s>\n    </remote_servers>\n", clickhousePairName)
	return b.String()
}
