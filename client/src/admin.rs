//! Requests of operators, below `/v1/admin/`.

use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ClientError,
    http::{Client, read, send},
};

impl Client {
    /// Gets a document of operators. `path` is what follows `/v1/admin/`.
    pub async fn admin<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        read(self.request(Method::GET, &format!("/v1/admin/{path}"))).await
    }

    /// Sends a change of operators that is answered with a document.
    pub async fn admin_change<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        read(self.request(Method::POST, &format!("/v1/admin/{path}")).json(body)).await
    }

    /// Sends the new state of a thing.
    pub async fn admin_set(&self, path: &str, body: &impl Serialize) -> Result<(), ClientError> {
        send(self.request(Method::PUT, &format!("/v1/admin/{path}")).json(body)).await.map(drop)
    }

    /// Sends the deletion of a thing.
    pub async fn admin_delete(&self, path: &str) -> Result<(), ClientError> {
        send(self.request(Method::DELETE, &format!("/v1/admin/{path}"))).await.map(drop)
    }
}
