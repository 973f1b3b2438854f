//go:build tools

// Package monitoring names what is built of Prometheus, so that its modules are pinned.
package monitoring

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
