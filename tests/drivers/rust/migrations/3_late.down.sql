-- no-transaction
DROP INDEX person_born;
