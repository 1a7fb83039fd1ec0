-- Lists the jobs of an account, newest first.
create index jobs_of_account on jobs (account_id, id desc);
