//! The arguments of `docker run`.

use super::ContainerPlacement;
use super::leftovers::OWNER;
use crate::placement::local::Contact;
use crate::placement::local_placement::Provisions;

impl ContainerPlacement {
    /// The arguments that start a container named `name`.
    pub(super) fn arguments(
        &self,
        name: &str,
        image: &str,
        provisions: &Provisions<'_>,
    ) -> Vec<String> {
        // Images are built here, so nothing is pulled: anyone could publish one of this name. The image's health check would
        // disturb windows.
        let mut words: Vec<String> =
            "run -d --init --network host --pull never --no-healthcheck --read-only"
                .split(' ')
                .map(str::to_owned)
                .collect();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("--name", name.to_owned());
        option("--label", format!("{OWNER}={}", self.site.owner.prefix()));
        self.limits(&mut option);
        option("--tmpfs", "/tmp:exec".to_owned());
        for volume in volumes(provisions) {
            option("--volume", volume);
        }
        for (name, value) in provisions.environment(&Default::default()) {
            option("--env", format!("{name}={value}"));
        }
        let command = self.place.entry.command();
        if let Some(program) = command.first() {
            option("--entrypoint", program.clone());
        }
        words.push(image.to_owned());
        words.extend(command.into_iter().skip(1));
        words
    }

    /// Limits of the container.
    fn limits(&self, option: &mut dyn FnMut(&str, String)) {
        let engine = &self.site.engine;
        let cpus: Vec<String> = self.place.cpus.iter().map(u32::to_string).collect();
        option("--cpuset-cpus", cpus.join(","));
        if let Some(bytes) = self.place.options().limits.memory_bytes {
            option("--memory", bytes.to_string());
            option("--memory-swap", bytes.to_string());
        }
        for limit in engine.own_limits() {
            option("--ulimit", limit);
        }
        option("--pids-limit", "-1".to_owned());
        option("--cap-drop", "ALL".to_owned());
        option("--security-opt", "no-new-privileges".to_owned());
        // The user's default log driver may drop the output, or keep it where the engine can't show it.
        let driver = if engine.is_podman() { "k8s-file" } else { "json-file" };
        option("--log-driver", driver.to_owned());
        option("--log-opt", "max-size=1m".to_owned());
    }
}

/// The volumes of a container. It can write only to the runtime log.
fn volumes(Provisions { contact, runtime, certificates, .. }: &Provisions<'_>) -> Vec<String> {
    let mut volumes = Vec::new();
    if let Contact::Socket(socket) = contact {
        let folder = socket.folder();
        volumes.push(format!("{}:{}:ro", folder.here().display(), folder.there().display()));
    }
    if let Some(log) = runtime {
        let path = log.path().display();
        volumes.push(format!("{path}:{path}"));
    }
    if let Some(certificates) = certificates {
        let path = certificates.folder().display();
        volumes.push(format!("{path}:{path}:ro"));
    }
    volumes
}
