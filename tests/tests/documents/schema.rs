//! The schema that the migrations make, as one readable file. The table of jobs alone is spread over 16 migrations.

use std::{env, fs};

use akhar_tests::{Cluster, root};
use sqlx::{Connection as _, PgConnection};

const FILE: &str = "migrations/schema.sql";

const HEAD: &str = "-- The schema after all migrations, for readers. Made by `make schema` from a migrated database: do not edit.\n";

/// Lists the functions, then each table with its columns, constraints, indexes and triggers, and all comments.
const LISTING: &str = r#"
with tables as (
    select oid, relname, obj_description(oid, 'pg_class') as comment, reloptions from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> '_sqlx_migrations'),
parts as (
    select attrelid as oid, 0 as kind, attnum::int as n, attname || ' ' || format_type(atttypid, atttypmod)
            || case when attnotnull then ' not null' else '' end
            || case attgenerated when 's' then ' generated always as (' || value || ') stored'
                else coalesce(' default ' || value, '') end as text,
        col_description(attrelid, attnum) as comment
    from pg_attribute
    left join lateral (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum) d (value) on true
    where attnum > 0 and not attisdropped
    union all
    select conrelid, 1, row_number() over (partition by conrelid order by contype desc, conname)::int,
        'constraint ' || conname || ' ' || pg_get_constraintdef(oid), null
    from pg_constraint where contype <> 'n'),
statements as (
    select 0 as kind, proname as of, 0 as n, proname as name,
        coalesce('-- ' || obj_description(oid, 'pg_proc') || E'\n', '') || rtrim(pg_get_functiondef(oid), E'\n') || E';\n' as text
    from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select 1, relname, 0, relname, coalesce('-- ' || comment || E'\n', '') || 'create table ' || relname || E' (\n'
        || (select string_agg('    ' || text || case when is_last then '' else ',' end || coalesce(' -- ' || comment, ''), E'\n' order by kind, n)
            from (select *, row_number() over (order by kind desc, n desc) = 1 as is_last from parts where parts.oid = tables.oid) of_table)
        || E'\n)' || coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') || E';\n'
    from tables
    union all
    select 1, relname, 1, indexrelid::regclass::text,
        coalesce('-- ' || obj_description(indexrelid, 'pg_class') || E'\n', '') || pg_get_indexdef(indexrelid) || E';\n'
    from pg_index join tables on oid = indrelid where not exists (select from pg_constraint where conindid = indexrelid)
    union all
    select 1, relname, 2, tgname, pg_get_triggerdef(t.oid) || E';\n'
    from pg_trigger t join tables on tables.oid = tgrelid where not tgisinternal)
select string_agg(case when kind = 0 or n = 0 then E'\n' else '' end || text, '' order by kind, of collate "C", n, name collate "C") from statements"#;

#[tokio::test]
async fn the_listing_of_the_schema_is_current() {
    let mut db = PgConnection::connect_with(&Cluster::shared().database().await).await.expect("it answers");
    let listing: String = sqlx::query_scalar(LISTING).fetch_one(&mut db).await.expect("a listing");
    let listing = format!("{HEAD}{listing}");
    let path = root().join(FILE);
    if env::var_os("WRITE_SCHEMA").is_some() {
        fs::write(&path, &listing).expect("a write");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == listing, "{FILE} is not current: run `make schema` and commit what it writes");
}
