-- For the lists of one account's jobs in a rare state. Jobs that wait or run have indexes that lead to few rows, and most jobs
-- succeed. Submitting, claiming and succeeding write to neither of these.
create index jobs_failed_of_account on jobs (account_id, id desc) where state = 'failed';
create index jobs_cancelled_of_account on jobs (account_id, id desc) where state = 'cancelled';
