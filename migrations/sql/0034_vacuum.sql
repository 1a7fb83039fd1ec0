-- A job's row is written three times. At thousands of jobs a second, a vacuum that pauses is slower than the dead rows come.
alter table jobs set (autovacuum_vacuum_cost_delay = 0);
