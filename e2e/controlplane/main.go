// The control plane of the end-to-end tests as one program: the first argument, or the name under
// which it was started, picks kube-apiserver, kube-controller-manager, kube-scheduler, kubectl or etcd.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	etcd "go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Only the command that was asked for is constructed: two in one process install the signal
// handler twice, which makes one of them panic and the others deaf to SIGTERM.
var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	name := filepath.Base(os.Args[0])
	if _, known := commands[name]; !known && name != "etcd" {
		if len(os.Args) < 2 {
			fmt.Fprintln(os.Stderr, "name a command: kube-apiserver, kube-controller-manager, kube-scheduler, kubectl or etcd")
			os.Exit(2)
		}
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	if name == "etcd" {
		etcd.Main(os.Args)
		return
	}
	construct, known := commands[name]
	if !known {
		fmt.Fprintf(os.Stderr, "unknown command %q\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(construct()))
}
