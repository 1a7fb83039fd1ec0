//! Signs URLs with which somebody without credentials writes one object of a bucket.

use std::{iter, sync::Arc, time::Duration};

use jiff::Timestamp;
use object_store::{
    aws::{AmazonS3, AwsCredential},
    path::Path,
    signer::{Method, Signer as _},
};
use reqwest::Url;
use rusty_s3::{Method as S3Method, signing::sign};

/// Signs URLs of a bucket.
#[derive(Debug, Clone)]
pub(super) struct Presigner {
    pub(super) bucket: Arc<AmazonS3>,
    pub(super) region: String,
}

impl Presigner {
    /// The URL to which an object of exactly `n_bytes` bytes can be written with PUT for so long.
    pub(super) async fn put(
        &self,
        path: &Path,
        n_bytes: u32,
        lifetime: Duration,
    ) -> object_store::Result<Url> {
        let credential = self.bucket.credentials().get_credential().await?;
        // `object_store` knows the address of an object, but does not sign its size.
        let address = self.bucket.signed_url(Method::PUT, path, lifetime).await?;
        Ok(put(address, &credential, &self.region, n_bytes, lifetime, Timestamp::now()))
    }
}

/// Signs a PUT request to this address, whose query is replaced.
fn put(
    address: Url,
    credential: &AwsCredential,
    region: &str,
    n_bytes: u32,
    lifetime: Duration,
    now: Timestamp,
) -> Url {
    let AwsCredential { key_id, secret_key, token } = credential;
    let size = n_bytes.to_string();
    sign(
        &now,
        S3Method::Put,
        address,
        key_id,
        secret_key,
        token.as_deref(),
        region,
        lifetime.as_secs(),
        iter::empty(),
        iter::once(("content-length", size.as_str())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signatures are those of botocore 1.44.5 (`S3SigV4QueryAuth`) for the example of Amazon's documentation, with a size.
    #[test]
    fn the_signature_covers_the_size() {
        let signed = |token: Option<&str>, n_bytes| {
            let credential = AwsCredential {
                key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
                secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
                token: token.map(str::to_owned),
            };
            let address = "https://examplebucket.s3.amazonaws.com/of%20tests/a.b?old=1".parse().unwrap();
            let now = "2013-05-24T00:00:00Z".parse().unwrap();
            let url = put(address, &credential, "us-east-1", n_bytes, Duration::from_secs(3600), now);
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            let value = |name: &str| pairs.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
            assert_eq!(url.path(), "/of%20tests/a.b");
            assert_eq!(value("old"), None);
            assert_eq!(value("X-Amz-Expires").unwrap(), "3600");
            assert_eq!(value("X-Amz-SignedHeaders").unwrap(), "content-length;host");
            assert_eq!(value("X-Amz-Security-Token").as_deref(), token);
            value("X-Amz-Signature").unwrap()
        };
        let without_token = "bd377cae3c914d9da3900e87d86fdf019ae57210d2de54fafd065c654fadc2b0";
        assert_eq!(signed(None, 1234), without_token);
        assert_ne!(signed(None, 1235), without_token);
        let with_token = "825eaf4708c19f487ffbcb92750fdea2036f96bcfa390e02647feca34f092d61";
        assert_eq!(signed(Some("a/token=="), 1234), with_token);
    }
}
