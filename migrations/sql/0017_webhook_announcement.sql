-- The end of a job announces its webhook after its commit. From a trigger, the announcement was part of a commit that waits
-- for the disk, and every other commit with a notification waited for it.
drop trigger announce_webhook_delivery on webhook_deliveries;
drop function announce_webhook_delivery;
