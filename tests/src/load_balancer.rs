//! nginx and `HAProxy` with the files of `deploy/`, in front of two apis of a test.

use std::{fs, path::Path};

use tokio::process::Command;
use uuid::Uuid;

use crate::{Process, free_port, http, root, until};

/// A program that distributes requests among apis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `deploy/nginx/nginx.conf`.
    Nginx,
    /// `deploy/haproxy/haproxy.cfg`.
    HaProxy,
}

/// A load balancer that runs until this is dropped.
#[derive(Debug)]
pub struct LoadBalancer {
    /// Its address, such as `http://127.0.0.1:41234`.
    pub base: String,
    _process: Process,
}

impl Program {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Nginx, Self::HaProxy];

    /// Starts it with the file of `deploy/`, in which only addresses and paths are others, and without TLS. It answers when this
    /// returns.
    pub async fn start(self, folder: &Path, apis: [&str; 2]) -> LoadBalancer {
        self.start_with(folder, apis, "", &[]).await
    }

    /// The same with other replacements in the file. It serves the apis below this path.
    pub async fn start_with(
        self,
        folder: &Path,
        apis: [&str; 2],
        path: &str,
        replacements: &[(&str, &str)],
    ) -> LoadBalancer {
        let port = free_port();
        let file = folder.join(format!("{self:?}-{}", Uuid::now_v7().simple()));
        let shipped = match self {
            Self::Nginx => "deploy/nginx/nginx.conf",
            Self::HaProxy => "deploy/haproxy/haproxy.cfg",
        };
        let mut text = fs::read_to_string(root().join(shipped)).expect("a file of deploy/");
        let listen = format!("127.0.0.1:{port}");
        let mut replace = |old: &str, new: &str| {
            assert!(text.contains(old), "{shipped} does not have {old:?}");
            text = text.replace(old, new);
        };
        for (old, new) in ["127.0.0.1:8081", "127.0.0.1:8082"].into_iter().zip(apis) {
            replace(old, new.trim_start_matches("http://"));
        }
        for (old, new) in replacements {
            replace(old, new);
        }
        let mut command = match self {
            Self::Nginx => {
                let folder = file.with_extension("files");
                fs::create_dir(&folder).expect("a folder");
                let folder = folder.display();
                replace("/run/nginx.pid", &format!("{folder}/pid"));
                replace("listen 443 ssl;", &format!("listen {listen};"));
                replace("ssl_certificate ", "# ");
                replace("ssl_certificate_key ", "# ");
                replace("ssl_protocols ", "# ");
                let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map(|kind| format!("{kind}_temp_path {folder}/{kind};"));
                replace("http {\n", &format!("http {{\n{}\n", temporary.concat()));
                // One process, which no user but that of the tests runs.
                let mut nginx = Command::new("/usr/sbin/nginx");
                nginx.args(["-e", "stderr", "-g", "daemon off; master_process off;", "-c"]);
                nginx
            }
            Self::HaProxy => {
                replace(
                    "bind :443 ssl crt /etc/ssl/akhar/akhar.pem alpn h2,http/1.1",
                    &format!("bind {listen}"),
                );
                replace("maxconn 20000", "maxconn 1000"); // a user may open few files
                let mut haproxy = Command::new("/usr/sbin/haproxy");
                haproxy.args(["-db", "-f"]);
                haproxy
            }
        };
        fs::write(&file, text).expect("a file");
        command.arg(&file).kill_on_drop(true);
        let balancer = LoadBalancer {
            base: format!("http://{listen}{path}"),
            _process: Process::spawn(shipped, command),
        };
        let ready = http::client().get(format!("{}/health/ready", balancer.base));
        until("the load balancer passes requests on", async || {
            let answer = http::try_send(ready.try_clone().expect("no body")).await;
            answer.is_ok_and(|answer| answer.status == 200).then_some(())
        })
        .await;
        balancer
    }
}
