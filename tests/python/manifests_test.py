"""Files for Kubernetes, systemd and container builders: manifests_test.py BUILD_DIR. Parts whose
tools are missing are skipped; ./dev python installs kubernetes-validate.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop()).resolve()
try:
    import tomllib

    from packaging.requirements import Requirement
except ImportError:
    Requirement = None
try:
    import kubernetes_validate
    import yaml
except ImportError:
    kubernetes_validate = None
try:
    import helm_python as helm
except ImportError:
    helm = None
UNIT = ROOT / "share/systemd/gpufathom-monitor.service"


def usage_error(words):
    """Whether the program takes these words for wrong usage: without a driver it ends with 1."""
    done = subprocess.run(
        [str(BUILD / "gpufathom"), *words],
        capture_output=True,
        text=True,
        env={"GPUFATHOM_LIBRARY_PATH": "/nowhere", "GPUFATHOM_TOKEN": "secret"},
    )
    return done.stderr if done.returncode != 1 else ""


class Manifests(unittest.TestCase):
    @unittest.skipUnless(Requirement, "packaging is not installed")
    def test_extras_take_what_is_tested(self):
        pins = {}
        for name in ("packages", "trainers"):
            lines = (ROOT / f"tests/python/{name}.txt").read_text().splitlines()
            pins.update(line.split("==") for line in lines if "==" in line)
        told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        extras = told["optional-dependencies"]
        self.assertLessEqual({"ranks", "arrow", "pandas", "polars", "lightning"}, set(extras))
        for extra, requirements in extras.items():
            for requirement in map(Requirement, requirements):
                self.assertTrue(str(requirement.specifier), f"{extra}: {requirement} has a range")
                if requirement.name in pins:
                    self.assertIn(pins[requirement.name], requirement.specifier, extra)

    @unittest.skipUnless(kubernetes_validate and helm, "helm-python-sdk is not installed")
    def test_chart(self):
        """With an image the chart is what stands beside it; each value has its effect."""
        folder = ROOT / "share/kubernetes"

        def rendered(values=None):
            with helm.Chart.load(str(folder / "chart")) as chart:
                texts = chart.render(values or {}, name="gpufathom", namespace="gpufathom").values()
            return [each for text in texts for each in yaml.safe_load_all(text) if each]

        def by_kind(documents):
            return {each["kind"]: each for each in documents}

        whole = [*yaml.safe_load_all((folder / "monitor.yaml").read_text())]
        plain = by_kind(whole)
        del plain["Namespace"]
        image = plain["DaemonSet"]["spec"]["template"]["spec"]["containers"][0]["image"]
        self.assertEqual(by_kind(rendered({"image": image})), plain)
        with self.assertRaisesRegex(Exception, "push it to your registry"):
            rendered()
        more = by_kind(rendered({
            "podMonitor": {"enabled": True}, "flight": {"enabled": True},
            "extraArgs": ["--source", "pm"], "image": "registry/gpufathom:1", "runtimeClassName": "",
        }))  # fmt: skip
        self.assertEqual(
            more["PodMonitor"], yaml.safe_load((folder / "podmonitor.yaml").read_text())
        )
        pod = more["DaemonSet"]["spec"]["template"]["spec"]
        for document in (more["DaemonSet"], more["Service"]):
            kubernetes_validate.validate(document, "1.31", strict=True)
        (container,) = pod["containers"]
        self.assertEqual(usage_error(container["args"]), "")
        self.assertEqual(
            container["args"][-4:], ["--flight", "/flight/kept", "--source", "pm"]
        )
        self.assertEqual(container["image"], "registry/gpufathom:1")
        self.assertNotIn("runtimeClassName", pod)
        self.assertEqual(pod["volumes"], [{"name": "flight", "emptyDir": {"sizeLimit": "2Gi"}}])

    @unittest.skipUnless(kubernetes_validate, "kubernetes-validate is not installed")
    def test_kubernetes(self):
        documents = list(yaml.safe_load_all((ROOT / "share/kubernetes/monitor.yaml").read_text()))
        self.assertEqual(
            [each["kind"] for each in documents], ["Namespace", "DaemonSet", "Service"]
        )
        for document in documents:
            kubernetes_validate.validate(document, "1.31", strict=True)
        broken = dict(documents[1], spec={**documents[1]["spec"], "no_such_field": 1})
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(broken, "1.31", strict=True)
        container = documents[1]["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(usage_error(container["args"]), "")
        # The PodMonitor finds these pods, their port and their token.
        pods = yaml.safe_load((ROOT / "share/kubernetes/podmonitor.yaml").read_text())
        self.assertEqual(pods["metadata"]["namespace"], documents[1]["metadata"]["namespace"])
        chosen = pods["spec"]["selector"]["matchLabels"].items()
        self.assertLessEqual(
            chosen, documents[1]["spec"]["template"]["metadata"]["labels"].items()
        )
        (endpoint,) = pods["spec"]["podMetricsEndpoints"]
        self.assertIn(endpoint["port"], [port["name"] for port in container["ports"]])
        (token,) = [each["valueFrom"] for each in container["env"] if "valueFrom" in each]
        self.assertEqual(endpoint["authorization"]["credentials"], token["secretKeyRef"])

    def test_systemd(self):
        commands = re.findall(r"ExecStart=(/\S.*)", UNIT.read_text())
        self.assertEqual(len(commands), 2)
        for command in commands:
            self.assertEqual(usage_error(shlex.split(command)[1:]), "")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing")
    def test_systemd_knows_every_word(self):
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(UNIT)], capture_output=True, text=True
        )
        said = [
            line
            for line in done.stderr.splitlines()
            if "gpufathom" in line and "is not executable" not in line
        ]
        self.assertEqual(said, [])

    def test_container(self):
        recipe = (ROOT / "share/oci/Containerfile").read_text()
        words = [line.split()[0] for line in recipe.splitlines() if line and line[0].isupper()]
        self.assertEqual(words[0], "FROM")
        self.assertLessEqual(set(words), {"FROM", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"})
        version = re.search(r"project\(gpufathom VERSION (\S+)",
                            (ROOT / "CMakeLists.txt").read_text())
        self.assertIn(f"gpufathom:{version[1]}", recipe)
        manifest = (ROOT / "share/kubernetes/monitor.yaml").read_text()
        self.assertIn(f"image: gpufathom:{version[1]}", manifest)


if __name__ == "__main__":
    unittest.main()
