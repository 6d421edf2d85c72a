"""What running variants on a device takes whatever the device: host code, data, processes, repetitions."""
